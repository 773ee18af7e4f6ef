import { Client } from 'pg';
import { pino } from 'pino';

import { readConfig } from '../../src/config.ts';
import { startGateway } from '../../src/server.ts';
import { createBrand } from '../support/brand.ts';
import { createClient, type GraphqlClient, type Json } from '../support/client.ts';
import { startPostgres } from '../support/postgres-server.ts';

const PLATFORM_KEY = 'platform-key-of-the-benchmark-0123456789';

/** A gateway on a PostgreSQL of its own, with one brand. */
interface BenchGateway {
  brandId: string;
  client: GraphqlClient;
  platform: GraphqlClient;
  /** Asks as the brand; throws when there is an error in the answer. */
  ask(query: string): Promise<Json>;
  /** Runs SQL on the database. */
  run(text: string, values?: unknown[]): Promise<Json[]>;
  stop(): Promise<void>;
}

/** Starts PostgreSQL and a gateway in this process. */
export async function startBenchGateway(): Promise<BenchGateway> {
  const postgres = await startPostgres();
  await postgres.createDatabase('bench');
  const databaseUrl = postgres.urlOf('bench');
  const config = readConfig({ DATABASE_URL: databaseUrl, PLATFORM_KEY, PORT: '0' });
  const gateway = await startGateway(config, pino({ level: 'silent' }));
  const platform = createClient(`${gateway.url}/platform`, PLATFORM_KEY);
  const brand = await createBrand(gateway.url, platform, 'Bench');
  return {
    brandId: brand.id,
    client: brand,
    platform,
    ask: async (query) => {
      const answer = await brand.ask(query);
      if (answer.errors) throw new Error(JSON.stringify(answer.errors));
      return answer.data;
    },
    run: async (text, values = []) => {
      const client = new Client({ connectionString: databaseUrl });
      await client.connect();
      const { rows } = await client.query(text, values);
      await client.end();
      return rows;
    },
    stop: async () => {
      await gateway.close();
      await postgres.stop();
    },
  };
}
