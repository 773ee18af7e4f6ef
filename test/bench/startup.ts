// How long it takes from `npm start` on an embedded database that exists already to the first
// answer: npm run bench:startup
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { findFreePort } from '../support/postgres-server.ts';

const RUNS = 10;

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
try {
  const first = await measureStart();
  const warm = [];
  for (let run = 0; run < RUNS; run++) warm.push(await measureStart());
  warm.sort((a, b) => a - b);
  const [min, median, max] = [warm[0], warm[Math.floor(RUNS / 2)], warm.at(-1)];
  console.log(`first start, which makes the database and the demo: ${first} ms`);
  console.log(`${RUNS} warm starts: min ${min} ms, median ${median} ms, max ${max} ms`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Milliseconds from the command to the first page of products, asked for every 10 ms. */
async function measureStart(): Promise<number> {
  const port = await findFreePort();
  const startedAt = performance.now();
  const child = spawn('npm', ['start'], {
    env: { ...process.env, PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'silent' },
    stdio: 'ignore',
    detached: true,
  });
  while (!(await isAnswering(port))) await sleep(10);
  const durationMs = Math.round(performance.now() - startedAt);
  // npm hands no signal on to what it runs; the group that it leads gets it whole.
  process.kill(-child.pid!, 'SIGTERM');
  await once(child, 'exit');
  while (await isAnswering(port)) await sleep(10);
  return durationMs;
}

async function isAnswering(port: number): Promise<boolean> {
  try {
    const key = readFileSync(join(folder, 'demo-key'), 'utf8').trim();
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query: '{ products(first: 10) { nodes { title } } }' }),
    });
    return response.ok;
  } catch {
    return false;
  }
}
