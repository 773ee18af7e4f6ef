import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

import { openDatabase } from '../../src/database/database.ts';
import './provided.ts';

/** Makes a data directory with a migrated database once; every test file starts on a copy of it. */
export default async function setup(project: TestProject): Promise<() => void> {
  const templateDir = mkdtempSync(join(tmpdir(), 'gateway-template-'));
  const database = await openDatabase({ kind: 'embedded', dataDir: join(templateDir, 'database') });
  await database.close();
  project.provide('database', { kind: 'embedded', templateDir });
  return () => rmSync(templateDir, { recursive: true, force: true });
}
