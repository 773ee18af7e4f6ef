import type { TestProject } from 'vitest/node';

import { openDatabase } from '../../src/database/database.ts';
import { startPostgres } from './postgres-server.ts';
import './provided.ts';

const TEMPLATE = 'gateway_template';

/** Starts a PostgreSQL server for the run, with a migrated database that test files copy. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  await server.createDatabase(TEMPLATE);
  const database = await openDatabase({ kind: 'postgresql', url: server.urlOf(TEMPLATE) });
  await database.close();
  project.provide('database', {
    kind: 'postgresql',
    serverUrl: server.urlOf('postgres'),
    template: TEMPLATE,
  });
  return () => server.stop();
}
