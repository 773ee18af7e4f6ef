import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { DataDirError, openDataDir } from '../../src/database/data-dir.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Holds the folder in another process, which keeps no reference to it, until that is killed. */
async function holdElsewhere(path: string) {
  const module = pathToFileURL(join(process.cwd(), 'src/database/data-dir.ts')).href;
  const code = `import { openDataDir } from '${module}'; openDataDir(${JSON.stringify(path)}); setTimeout(() => { gc(); gc(); console.log('held'); }, 50); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

describe('the data directory', () => {
  it('is refused at once while another process has it, with words that say so', async () => {
    const holder = await holdElsewhere(folder);
    const startedAt = performance.now();
    expect(() => openDataDir(folder)).toThrow(DataDirError);
    expect(() => openDataDir(folder)).toThrow(`DATA_DIR ${folder} is in use by another process`);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  });

  it('is free as soon as its holder is gone, by SIGKILL too', async () => {
    const holder = await holdElsewhere(folder);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    openDataDir(folder).release();
    expect(() => openDataDir(folder).release()).not.toThrow();
  });

  it('keeps secrets for its owner only, and the same ones', () => {
    const dataDir = openDataDir(join(folder, 'data'));
    const made = dataDir.ensureSecret('platform-key');
    expect(made).toMatch(/^[0-9a-f]{64}$/);
    expect(dataDir.ensureSecret('platform-key')).toBe(made);
    expect(statSync(join(folder, 'data', 'platform-key')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
    dataDir.release();
  });

  it('says why when it cannot be used', () => {
    writeFileSync(join(folder, 'a-file'), '');
    const path = join(folder, 'a-file', 'data');
    expect(() => openDataDir(path)).toThrow(`DATA_DIR ${path} cannot be used: `);
  });
});
