import { join } from 'node:path';

import { MikroORM } from '@mikro-orm/core';
import { type EntityManager } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openDatabase } from '../src/database/database.ts';
import { ormOptions } from '../src/database/orm.ts';
import { Product } from '../src/products/entity.ts';
import { makeDatabase } from './support/gateway.ts';

let orm: MikroORM;
let remove: () => Promise<void>;

beforeAll(async () => {
  const { environment, remove: removeDatabase } = await makeDatabase();
  const { DATABASE_URL: url, DATA_DIR = '' } = environment;
  const location = url
    ? ({ kind: 'postgresql', url } as const)
    : ({ kind: 'embedded', dataDir: join(DATA_DIR, 'database') } as const);
  await (await openDatabase(location)).close();
  orm = await MikroORM.init(ormOptions(location));
  remove = removeDatabase;
});
afterAll(async () => {
  await orm?.close(true);
  await remove?.();
});

describe('the migrations', () => {
  it('make every column that the entities have, of their type and nullability', async () => {
    const sql = await orm.schema.getUpdateSchemaSQL({ wrap: false, safe: true });
    const statements = sql.split('\n').filter((line) => /\bcolumn\b|create table/.test(line));
    expect(statements).toEqual([]);
  });

  it('make an index for every foreign key', async () => {
    const em = orm.em as EntityManager;
    const missing = await em.execute(`
      select c.conrelid::regclass::text as "table", c.conname as name from pg_constraint c
      where c.contype = 'f' and not exists (
        select 1 from pg_index i
        where i.indrelid = c.conrelid
          and (i.indkey::int2[])[0:array_length(c.conkey, 1) - 1] @> c.conkey
      )`);
    expect(missing).toEqual([]);
  });
});

describe('the brand filter', () => {
  it('refuses to read or change an entity for nobody', async () => {
    const em = orm.em.fork();
    await expect(em.find(Product, {})).rejects.toThrow(/filter 'brand'/);
    await expect(em.nativeDelete(Product, {})).rejects.toThrow(/filter 'brand'/);
  });
});
