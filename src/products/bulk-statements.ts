import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand } from '../brands/service.ts';
import { newId } from '../database/ids.ts';
import { queryInside } from '../database/statements.ts';

export type BulkOutcome =
  | 'CREATED'
  | 'UPDATED'
  | 'UNCHANGED'
  | 'DELETED'
  | 'ABSENT'
  | 'FAILED'
  | 'NOT_APPLIED';

/** What became of one record. */
export interface BulkResult {
  storeId: string;
  outcome: BulkOutcome;
  /** Of the record that was written, found unchanged or deleted. */
  id: string | null;
}

/** A table that bulk calls write to, and the columns that they write. */
export interface BulkTable {
  name: 'product' | 'product_variant';
  columns: BulkColumn[];
}

/** A column that an upsert writes: its name, its type, and the field of the record that it is from. */
interface BulkColumn {
  name: string;
  type: string;
  field: string;
  /** Whether the field may be left out, which keeps what an existing record has. */
  isOptional?: boolean;
}

/** A record with a value, or none, for the field of every column. */
export interface PreparedRecord {
  storeId: string;
}

const IMAGE_COLUMNS: BulkColumn[] = [
  { name: 'image_url', type: 'text', field: 'imageUrl', isOptional: true },
  { name: 'image_width', type: 'integer', field: 'imageWidth', isOptional: true },
  { name: 'image_height', type: 'integer', field: 'imageHeight', isOptional: true },
];

export const PRODUCT_TABLE: BulkTable = {
  name: 'product',
  columns: [
    { name: 'title', type: 'text', field: 'title' },
    { name: 'description', type: 'text', field: 'description' },
    { name: 'online_store_url', type: 'text', field: 'onlineStoreUrl' },
    ...IMAGE_COLUMNS,
  ],
};

export const VARIANT_TABLE: BulkTable = {
  name: 'product_variant',
  columns: [
    { name: 'product_id', type: 'uuid', field: 'productId' },
    { name: 'title', type: 'text', field: 'title' },
    { name: 'position', type: 'integer', field: 'position' },
    { name: 'barcode', type: 'text', field: 'barcode', isOptional: true },
    { name: 'sku', type: 'text', field: 'sku', isOptional: true },
    { name: 'price_cents', type: 'bigint', field: 'priceCents', isOptional: true },
    { name: 'currency', type: 'text', field: 'currency', isOptional: true },
    ...IMAGE_COLUMNS,
  ],
};

/**
 * Inserts or updates records by storeId inside the transaction of `tx`, with one statement, and one
 * more that finds the ids of those that already stand exactly so.
 */
export async function upsertRecords(
  tx: EntityManager,
  brand: ForBrand,
  { name: table, columns }: BulkTable,
  records: PreparedRecord[],
): Promise<BulkResult[]> {
  if (records.length === 0) return [];
  const newIds = new Map(records.map(({ storeId }) => [storeId, newId()]));
  const rows = records.map((record) => toJsonRow(record, columns, newIds.get(record.storeId)!));
  const text = upsertSql(table, columns, records);
  const written = await queryInside<StoredId>(tx, text, [brand.id, JSON.stringify(rows)]);
  const results = written.map(({ id, storeId }): BulkResult => {
    const isNew = newIds.get(storeId) === id;
    return { storeId, id, outcome: isNew ? 'CREATED' : 'UPDATED' };
  });
  const seen = new Set(written.map(({ storeId }) => storeId));
  const rest = records.map(({ storeId }) => storeId).filter((storeId) => !seen.has(storeId));
  return [...results, ...(await findUnchanged(tx, brand, table, rest))];
}

interface StoredId {
  id: string;
  storeId: string;
}

/**
 * One statement that inserts or updates every record, and returns those that it wrote; a record
 * that already stands exactly so is locked but not written. It compares with what is stored when
 * it gets there, not with an earlier look, so that a record that another call makes meanwhile is
 * updated by the same rules.
 */
function upsertSql(table: string, columns: BulkColumn[], records: PreparedRecord[]): string {
  const names = columns.map(({ name }) => name);
  const updates = columns
    .map((column) => ({ name: column.name, value: updatedValue(column, records) }))
    .filter(({ name, value }) => value !== `t.${name}`);
  const recordset = columns.flatMap(({ name, type, isOptional }) =>
    isOptional ? [`${name} ${type}`, `keeps_${name} boolean`] : [`${name} ${type}`],
  );
  return `
    with input as (
      select * from jsonb_to_recordset($2::jsonb) as r (id uuid, store_id text, ${recordset.join(', ')})
    ), instant as materialized (select clock_timestamp() as at)
    insert into ${table} as t (id, brand_id, store_id, created_at, updated_at, ${names.join(', ')})
    select id, $1, store_id, at, at, ${names.join(', ')} from input, instant
    on conflict (brand_id, store_id) do update set
      ${updates.map(({ name, value }) => `${name} = ${value}`).join(', ')}, updated_at = greatest(clock_timestamp(), t.updated_at + interval '1 millisecond')
    where (${updates.map(({ name }) => `t.${name}`).join(', ')})
      is distinct from (${updates.map(({ value }) => value).join(', ')})
    returning t.id, t.store_id as "storeId"`;
}

/** What a column of an existing record becomes: the new value, or what it has where it was left out. */
function updatedValue({ name, field, isOptional }: BulkColumn, records: PreparedRecord[]): string {
  const leftOut = isOptional ? records.filter((record) => isLeftOut(record, field)).length : 0;
  if (leftOut === 0) return `excluded.${name}`;
  if (leftOut === records.length) return `t.${name}`;
  const keeps = `(select i.keeps_${name} from input i where i.store_id = excluded.store_id)`;
  return `case when ${keeps} then t.${name} else excluded.${name} end`;
}

function toJsonRow(record: PreparedRecord, columns: BulkColumn[], id: string): object {
  const row: Record<string, unknown> = { id, store_id: record.storeId };
  for (const { name, field, isOptional } of columns) {
    row[name] = Reflect.get(record, field) ?? null;
    if (isOptional) row[`keeps_${name}`] = isLeftOut(record, field);
  }
  return row;
}

function isLeftOut(record: PreparedRecord, field: string): boolean {
  return Reflect.get(record, field) === undefined;
}

async function findUnchanged(
  tx: EntityManager,
  brand: ForBrand,
  table: string,
  storeIds: string[],
): Promise<BulkResult[]> {
  if (storeIds.length === 0) return [];
  const rows = await queryInside<StoredId>(
    tx,
    `select id, store_id as "storeId" from ${table} where brand_id = $1 and store_id = any ($2::text[])`,
    [brand.id, storeIds],
  );
  return rows.map(({ id, storeId }) => ({ id, storeId, outcome: 'UNCHANGED' }));
}

/** Deletes records by storeId inside the transaction of `tx`, with one statement. */
export async function deleteRecords(
  tx: EntityManager,
  brand: ForBrand,
  { name: table }: BulkTable,
  storeIds: string[],
): Promise<BulkResult[]> {
  if (storeIds.length === 0) return [];
  const rows = await queryInside<StoredId>(
    tx,
    `delete from ${table} where brand_id = $1 and store_id = any ($2::text[])
     returning id, store_id as "storeId"`,
    [brand.id, storeIds],
  );
  const ids = new Map(rows.map(({ storeId, id }) => [storeId, id]));
  return storeIds.map((storeId) => {
    const id = ids.get(storeId) ?? null;
    return { storeId, id, outcome: id ? 'DELETED' : 'ABSENT' };
  });
}
