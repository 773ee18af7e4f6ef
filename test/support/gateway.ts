import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';

import { Client } from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';

import { type Config, readConfig } from '../../src/config.ts';
import { LOG_SERIALIZERS } from '../../src/log.ts';
import { startGateway } from '../../src/server.ts';
import { createBrand, type TestBrand } from './brand.ts';
import { createClient, type GraphqlClient } from './client.ts';
import { createDatabase } from './postgres-server.ts';
import './provided.ts';

/** A database of a test's own, as the environment of a gateway that runs on it. */
interface TestDatabase {
  environment: Record<string, string>;
  /** A folder of the test's own, removed with the rest. */
  folder: string;
  remove(): Promise<void>;
}

export const PLATFORM_KEY = 'platform-key-of-the-tests-0123456789';

/** Makes a database of the project's kind, a copy of the migrated template or, for `empty`, without tables. */
export async function makeDatabase(options: { isEmpty?: boolean } = {}): Promise<TestDatabase> {
  const provided = inject('database');
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const environment: Record<string, string> = {
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    PLATFORM_KEY,
    LOG_LEVEL: 'info',
    DEMO: 'off',
  };
  if (provided.kind === 'embedded') {
    if (!options.isEmpty) cpSync(provided.templateDir, environment.DATA_DIR!, { recursive: true });
    return {
      environment,
      folder,
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    };
  }
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await createDatabase(provided.serverUrl, name, options.isEmpty ? undefined : provided.template);
  const url = new URL(provided.serverUrl);
  url.pathname = `/${name}`;
  return {
    environment: { ...environment, DATABASE_URL: url.href },
    folder,
    remove: async () => {
      const client = new Client({ connectionString: provided.serverUrl });
      await client.connect();
      await client.query(`drop database "${name}" with (force)`);
      await client.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A gateway that runs in the test's own process, on a real port and a real database. */
export interface TestGateway {
  url: string;
  platform: GraphqlClient;
  /** The demo brand's key, where a demo was asked for and the database is embedded. */
  demoKey: string | undefined;
  /** The log so far, a parsed line each. */
  logLines: Record<string, unknown>[];
  /** Makes a brand; `fields` are more of what createBrand takes. */
  createBrand(name?: string, fields?: object): Promise<TestBrand>;
  close(): Promise<void>;
}

/** Starts a gateway on a database of its own. */
export async function startTestGateway(overrides: Partial<Config> = {}): Promise<TestGateway> {
  const database = await makeDatabase();
  const logLines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logLines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const config = { ...readConfig(database.environment), ...overrides };
  const gateway = await startGateway(
    config,
    pino({ level: 'info', serializers: LOG_SERIALIZERS }, sink),
  );
  const platform = createClient(`${gateway.url}/platform`, gateway.platformKey);
  return {
    url: gateway.url,
    platform,
    demoKey: gateway.demoKey,
    logLines,
    createBrand: (name = 'A brand', fields = {}) =>
      createBrand(gateway.url, platform, name, fields),
    close: async () => {
      await gateway.close();
      await database.remove();
    },
  };
}
