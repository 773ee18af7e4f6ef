import { join } from 'node:path';

import { MikroORM } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

import { openDatabase } from '../../src/database/database.ts';
import { ormOptions } from '../../src/database/orm.ts';
import { makeDatabase } from './gateway.ts';

/** A migrated database of the project's kind, without a gateway, for tests of what lies beneath. */
interface TestOrm {
  orm: MikroORM;
  em: EntityManager;
  /** Of the PostgreSQL database; undefined for the embedded one. */
  url: string | undefined;
  close(): Promise<void>;
}

/** Opens a database of a test's own. */
export async function openTestOrm(): Promise<TestOrm> {
  const { environment, remove } = await makeDatabase();
  const { DATABASE_URL: url, DATA_DIR = '' } = environment;
  const location = url
    ? ({ kind: 'postgresql', url } as const)
    : ({ kind: 'embedded', dataDir: join(DATA_DIR, 'database') } as const);
  await (await openDatabase(location)).close();
  const orm = await MikroORM.init(ormOptions(location));
  const close = async () => {
    await orm.close(true);
    await remove();
  };
  return { orm, em: orm.em as EntityManager, url, close };
}
