import type { MikroORM } from '@mikro-orm/core';
import { type EntityManager } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

import { authenticate } from '../src/api-keys/service.ts';
import { countRecords } from '../src/database/paging.ts';
import { query, queryInside } from '../src/database/statements.ts';
import { writeForBrand } from '../src/database/write.ts';
import { CountTimedOutError, UnauthenticatedError } from '../src/errors.ts';
import { createBrandWithKey, createKeyForBrand } from '../src/platform/service.ts';
import { bulkProducts } from '../src/products/bulk.ts';
import { Product } from '../src/products/entity.ts';
import {
  createProduct,
  findProductByStoreId,
  productList,
  updateProduct,
} from '../src/products/service.ts';
import { productInput } from './support/catalogue.ts';
import { openTestOrm } from './support/orm.ts';

let database: Awaited<ReturnType<typeof openTestOrm>>;
let orm: MikroORM;

beforeAll(async () => {
  database = await openTestOrm();
  ({ orm } = database);
});
afterAll(() => database?.close());

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

describe('authenticate', () => {
  it('finds the brand of a key, and nobody for one that is revoked or expired', async () => {
    const em = orm.em as EntityManager;
    const input = { name: 'Keys', communityUrl: 'https://c.example' };
    const { brand, token } = await createBrandWithKey(em, input);
    const keyOf = (name: string) => createKeyForBrand(em, { brandId: brand.id, name });
    const [revoked, expired, later] = [
      await keyOf('revoked'),
      await keyOf('expired'),
      await keyOf('later'),
    ];
    await em.execute("update api_key set revoked_at = now() where name = 'revoked'");
    await em.execute(
      "update api_key set expires_at = now() - interval '1 second' where name = 'expired'",
    );
    await em.execute(
      "update api_key set expires_at = now() + interval '1 hour' where name = 'later'",
    );
    for (const good of [token, later]) {
      expect((await authenticate(em, good)).brand.id).toBe(brand.id);
    }
    for (const bad of [revoked, expired, `${token}x`, '', null]) {
      await expect(authenticate(em, bad)).rejects.toThrow(UnauthenticatedError);
    }
  });

  it('stores no key, only what it begins with and its SHA-256', async () => {
    const em = orm.em as EntityManager;
    const { token } = await createBrandWithKey(em, {
      name: 'Hash',
      communityUrl: 'https://c.example',
    });
    const rows = await em.execute('select * from api_key');
    expect(JSON.stringify(rows)).not.toContain(token.slice(16));
    expect(rows.map(({ prefix }) => prefix as string)).toContain(token.slice(0, 15));
  });
});

describe.runIf(inject('database').kind === 'postgresql')('counting', () => {
  it('is given up after a second', async () => {
    const em = orm.em as EntityManager;
    const { brand } = await createBrandWithKey(em, {
      name: 'Slow',
      communityUrl: 'https://c.example',
    });
    await createProduct(em, brand, productInput('one'));
    const { source, filters, key } = productList({});
    const slow = { ...source, from: 'product t cross join lateral (select pg_sleep(5)) s' };
    const startedAt = performance.now();
    await expect(countRecords(em, brand.id, { source: slow, filters, key })).rejects.toThrow(
      CountTimedOutError,
    );
    expect(performance.now() - startedAt).toBeLessThan(4000);
  });
});

describe('instants', () => {
  it('are later than what was read while a change waited for its lock', async () => {
    const em = orm.em as EntityManager;
    const { brand } = await createBrandWithKey(em, {
      name: 'Clock',
      communityUrl: 'https://c.example',
    });
    const { id } = await createProduct(em, brand, productInput('one'));
    // Two changes that wait for the lock that the first transaction holds for a while.
    const locked = writeForBrand(em, brand.id, async (tx) => {
      await queryInside(tx, 'select 1 from brand where id = $1 for no key update', [brand.id]);
      await queryInside(tx, 'select 1 from product where id = $1 for update', [id]);
      await new Promise((resolve) => setTimeout(resolve, 300));
      const [row] = await queryInside<{ now: string }>(
        tx,
        'select clock_timestamp()::timestamptz(3) as now',
        [],
      );
      return row!.now;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const update = updateProduct(em, brand, { id, title: 'Later' });
    const bulk = bulkProducts(em, brand, { upsertRecords: [productInput('two')] });
    const lockedUntil = await locked;
    expect((await update).updatedAt >= lockedUntil).toBe(true);
    await bulk;
    const two = await findProductByStoreId(em, brand, 'two');
    expect(two!.createdAt >= lockedUntil).toBe(true);
  });
});

describe.runIf(inject('database').kind === 'postgresql')('the pool', () => {
  it('has all its connections again after the server has closed them in mid-write', async () => {
    const em = orm.em as EntityManager;
    const { brand } = await createBrandWithKey(em, {
      name: 'P',
      communityUrl: 'https://c.example',
    });
    for (let round = 0; round < 2; round++) {
      const writes = Array.from({ length: 12 }, (_, n) =>
        writeForBrand(em, brand.id, async (tx) => {
          await queryInside(tx, `select pg_sleep(${n < 9 ? 5 : 0})`, []);
        }),
      );
      const outcomes = Promise.allSettled(writes);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await em.execute(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`);
      const failed = (await outcomes).filter(({ status }) => status === 'rejected');
      expect(failed.length).toBeGreaterThan(5);
    }
    // All ten at once: none is missing.
    const startedAt = performance.now();
    const reads = Array.from({ length: 10 }, () => query(em, 'select pg_sleep(0.5)', []));
    await Promise.all(reads);
    expect(performance.now() - startedAt).toBeLessThan(950);
  });
});

describe('the brand filter', () => {
  it('refuses to read or change an entity for nobody', async () => {
    const em = orm.em.fork();
    await expect(em.find(Product, {})).rejects.toThrow(/filter 'brand'/);
    await expect(em.nativeDelete(Product, {})).rejects.toThrow(/filter 'brand'/);
  });
});
