import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Tests that start no gateway, or their own kind of one: once is enough. */
const ONCE = [
  'test/config.test.ts',
  'test/log.test.ts',
  'test/schema.test.ts',
  'test/database/*.test.ts',
];

/** Starting a process, or a database in it, takes seconds on a busy machine with two cores. */
const TIMEOUT_MS = 60_000;

/** Vite would take graphql's ES module, and the packages beside it the CommonJS one: two of each class. */
const resolve = {
  alias: [{ find: /^graphql$/, replacement: join(root, 'node_modules/graphql/index.js') }],
};

const shared = { root, testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS };

/** A test file runs on both kinds of database, as two projects: the embedded one and PostgreSQL. */
export default defineConfig({
  test: {
    root,
    maxWorkers: 2,
    reporters: ['default', './test/support/count-reporter.ts'],
    projects: [
      { resolve, test: { ...shared, name: 'once', include: ONCE } },
      {
        resolve,
        test: {
          ...shared,
          name: 'embedded',
          include: ['test/*.test.ts'],
          exclude: ONCE,
          globalSetup: './test/support/embedded-setup.ts',
        },
      },
      {
        resolve,
        test: {
          ...shared,
          name: 'postgresql',
          include: ['test/*.test.ts'],
          exclude: ONCE,
          globalSetup: './test/support/postgresql-setup.ts',
        },
      },
    ],
  },
});
