import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { afterEach, describe, expect, it, vi } from 'vitest';

import { createBrand } from './support/brand.ts';
import { createClient } from './support/client.ts';
import { makeDatabase, PLATFORM_KEY } from './support/gateway.ts';
import { findFreePort } from './support/postgres-server.ts';
import { startProcess } from './support/process.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** Runs the command as `npm run activity` does it. */
function run(environment: Record<string, string>, ...args: string[]) {
  const script = ['--import', './src/require-node.js', 'src/demo/activity.ts', ...args];
  const child = spawn(process.execPath, script, {
    env: { PATH: process.env.PATH ?? '', ...environment },
  });
  cleanUps.push(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const exit = once(child, 'close') as Promise<[number]>;
  return { child, exit, readOutput: () => output };
}

describe('npm run activity', () => {
  it('plays at the rate asked for, through a restart of the gateway, until it is stopped', async () => {
    const { environment, remove } = await makeDatabase();
    cleanUps.push(remove);
    const settings = { ...environment, PORT: String(await findFreePort()) };
    const first = await startProcess(settings);
    cleanUps.push(() => first.stop('SIGKILL'));
    const brand = await createBrand(
      first.url,
      createClient(`${first.url}/platform`, PLATFORM_KEY),
      'Played',
    );
    const command = run(settings, '--rate', '100');
    const readTotal = () =>
      Number([...command.readOutput().matchAll(/\((\d+) in all\)/g)].at(-1)?.[1]);
    await vi.waitFor(() => expect(readTotal()).toBeGreaterThan(100), 20_000);
    expect(command.readOutput()).toContain('100 activities a second in the community of Played.');

    await first.stop('SIGKILL');
    await vi.waitFor(() => expect(command.readOutput()).toContain('There is no gateway'), 20_000);
    const total = readTotal();
    const second = await startProcess(settings);
    cleanUps.push(() => second.stop('SIGKILL'));
    await vi.waitFor(() => expect(readTotal()).toBeGreaterThan(total + 100), 20_000);
    command.child.kill('SIGTERM');
    const [code] = await command.exit;
    expect(code).toBe(0);
    expect(command.readOutput()).toMatch(/Stopped after \d+ activities\.\n$/);
    expect(command.readOutput()).not.toContain('Refused');

    const { data } = await brand.ask(
      '{ members { totalCount } posts(first: 100) { nodes { user { username } } } }',
    );
    expect(data.members.totalCount).toBeGreaterThan(5);
    expect(data.posts.nodes.length).toBeGreaterThan(5);
    for (const { user } of data.posts.nodes) {
      expect(user.username).toMatch(/^[a-z]+-[a-z]+-\d+-[0-9a-f]{6}$/);
    }
  });

  it.each([
    ['a rate of nothing', ['--rate', '0'], '--rate must be from 0.1 to 500'],
    ['a rate that is no number', ['--rate', 'fast'], '--rate must be from 0.1 to 500'],
    ['an option that there is not', ['--speed', '1'], "Unknown option '--speed'"],
    ['no gateway', [], 'There is no gateway at http://127.0.0.1:1/platform'],
  ])('says what is wrong with %s', async (_what, args, message) => {
    const command = run({ PLATFORM_KEY, PORT: '1' }, ...args);
    const [code] = await command.exit;
    expect([code, command.readOutput()]).toEqual([1, expect.stringContaining(message)]);
  });
});
