import type { EntityManager } from '@mikro-orm/postgresql';

import { newId } from '../database/ids.ts';
import { queryInside } from '../database/statements.ts';
import { writeForBrand } from '../database/write.ts';
import type { UserError } from '../errors.ts';
import { type CreateProductInput, type ForBrand } from './service.ts';
import { type CreateVariantInput, productNotFound } from './variant-service.ts';

/** The most records of either kind, upserts or deletes, in one call. */
export const MAX_BULK_RECORDS = 100;

type BulkErrorPolicy = 'REJECT_ALL' | 'SKIP_FAILED';

export type BulkOutcome =
  | 'CREATED'
  | 'UPDATED'
  | 'UNCHANGED'
  | 'DELETED'
  | 'ABSENT'
  | 'FAILED'
  | 'NOT_APPLIED';

/** One bulk call. A nullable field that is left out is null on a new record, and stays on an old one. */
export interface BulkInput<Record> {
  upsertRecords?: Record[] | null;
  /** storeIds. */
  deleteRecords?: string[] | null;
  /** REJECT_ALL unless told. */
  errorPolicy?: BulkErrorPolicy | null;
}

/** What became of one record. */
export interface BulkResult {
  storeId: string;
  outcome: BulkOutcome;
  /** Of the record that was written, found unchanged or deleted. */
  id: string | null;
}

/** What became of one call: a result for each record, the upserts and then the deletes, as given. */
export interface BulkAnswer {
  /** True when every record was written, or needed nothing. */
  success: boolean;
  results: BulkResult[];
  userErrors: UserError[];
}

/**
 * Upserts and deletes products by storeId, in one transaction and with one statement for each of
 * the two. Deleting a product deletes its variants. Records no event.
 *
 * A storeId that stands twice in the call, deletes included, fails every record with it
 * (DUPLICATE). Under REJECT_ALL one failure leaves everything as it was; under SKIP_FAILED the
 * others are written.
 */
export function bulkProducts(
  em: EntityManager,
  brand: ForBrand,
  input: BulkInput<CreateProductInput>,
): Promise<BulkAnswer> {
  return runBulk(em, brand, input, {
    table: 'product',
    columns: PRODUCT_COLUMNS,
    prepare: async (_tx, records) => records.map((record) => ({ ...record })),
  });
}

/**
 * As `bulkProducts`, for variants. A record whose productStoreId the brand does not have fails
 * (NOT_FOUND); one that names another product than before moves the variant there.
 */
export function bulkProductVariants(
  em: EntityManager,
  brand: ForBrand,
  input: BulkInput<CreateVariantInput>,
): Promise<BulkAnswer> {
  return runBulk(em, brand, input, {
    table: 'product_variant',
    columns: VARIANT_COLUMNS,
    prepare: async (tx, records) => {
      const productIds = await lockProducts(tx, brand, records);
      return records.map(({ productStoreId, ...record }, index) => {
        const productId = productIds.get(productStoreId);
        const field = ['upsertRecords', String(index), 'productStoreId'];
        return productId ? { ...record, productId } : productNotFound(productStoreId, field);
      });
    },
  });
}

/** A column that an upsert writes: its name, its type, and the field of the record that it is from. */
interface BulkColumn {
  name: string;
  type: string;
  field: string;
  /** Whether the field may be left out, which keeps what an existing record has. */
  isOptional?: boolean;
}

interface BulkTarget<Input> {
  table: 'product' | 'product_variant';
  columns: BulkColumn[];
  /** Turns each input into what its columns take, or into why it cannot be written. */
  prepare: (tx: EntityManager, records: Input[]) => Promise<(PreparedRecord | UserError)[]>;
}

interface PreparedRecord {
  storeId: string;
}

const IMAGE_COLUMNS: BulkColumn[] = [
  { name: 'image_url', type: 'text', field: 'imageUrl', isOptional: true },
  { name: 'image_width', type: 'integer', field: 'imageWidth', isOptional: true },
  { name: 'image_height', type: 'integer', field: 'imageHeight', isOptional: true },
];

const PRODUCT_COLUMNS: BulkColumn[] = [
  { name: 'title', type: 'text', field: 'title' },
  { name: 'description', type: 'text', field: 'description' },
  { name: 'online_store_url', type: 'text', field: 'onlineStoreUrl' },
  ...IMAGE_COLUMNS,
];

const VARIANT_COLUMNS: BulkColumn[] = [
  { name: 'product_id', type: 'uuid', field: 'productId' },
  { name: 'title', type: 'text', field: 'title' },
  { name: 'position', type: 'integer', field: 'position' },
  { name: 'barcode', type: 'text', field: 'barcode', isOptional: true },
  { name: 'sku', type: 'text', field: 'sku', isOptional: true },
  { name: 'price_cents', type: 'bigint', field: 'priceCents', isOptional: true },
  { name: 'currency', type: 'text', field: 'currency', isOptional: true },
  ...IMAGE_COLUMNS,
];

async function runBulk<Input extends PreparedRecord>(
  em: EntityManager,
  brand: ForBrand,
  { upsertRecords, deleteRecords, errorPolicy }: BulkInput<Input>,
  target: BulkTarget<Input>,
): Promise<BulkAnswer> {
  const upserts = upsertRecords ?? [];
  const deletes = deleteRecords ?? [];
  const storeIds = [...upserts.map(({ storeId }) => storeId), ...deletes];
  const duplicates = findDuplicates(storeIds, upserts.length);

  const work = async (tx: EntityManager) => {
    // One bulk call of a brand at a time, whichever replica it came to: two that touch the same
    // records in another order would deadlock. Nothing else waits for this lock but a change of
    // the brand itself.
    await queryInside(tx, 'select 1 from brand where id = $1 for no key update', [brand.id]);
    const prepared = await target.prepare(tx, upserts);
    const refusals = prepared.filter((record) => 'code' in record);
    const userErrors = [...duplicates.values(), ...refusals];
    const isFailed = (index: number) =>
      duplicates.has(index) || (index < upserts.length && 'code' in prepared[index]!);

    const isRejected = userErrors.length > 0 && errorPolicy !== 'SKIP_FAILED';
    const written = isRejected
      ? new Map<string, BulkResult>()
      : await applyBulk(tx, brand, target, {
          records: prepared.filter((record, index) => !isFailed(index)) as PreparedRecord[],
          deletes: deletes.filter((_, index) => !isFailed(upserts.length + index)),
        });

    const results = storeIds.map((storeId, index): BulkResult => {
      const result = isFailed(index) ? undefined : written.get(storeId);
      return result ?? { storeId, id: null, outcome: isFailed(index) ? 'FAILED' : 'NOT_APPLIED' };
    });
    return { success: userErrors.length === 0, results, userErrors };
  };
  return inTurn(brand.id, () => writeForBrand(em, brand.id, work));
}

/** The last bulk call of each brand in this process that has one under way. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Runs the work of a brand after what it has under way here already. Those that wait do so without
 * a connection: a brand that sends many bulk calls at once must not take them all.
 */
async function inTurn<T>(brandId: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(brandId) ?? Promise.resolve();
  const mine = before.then(work, work);
  turns.set(brandId, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(brandId) === mine) turns.delete(brandId);
  }
}

/** The refusals of records whose storeId stands more than once, by the record's place in the call. */
function findDuplicates(storeIds: string[], upsertCount: number): Map<number, UserError> {
  const places = Map.groupBy(storeIds.keys(), (index) => storeIds[index]!);
  const duplicates = new Map<number, UserError>();
  for (const [storeId, indexes] of places) {
    if (indexes.length < 2) continue;
    for (const index of indexes) {
      const field =
        index < upsertCount
          ? ['upsertRecords', String(index), 'storeId']
          : ['deleteRecords', String(index - upsertCount)];
      const message = `The storeId ${JSON.stringify(storeId)} stands ${indexes.length} times in this call.`;
      duplicates.set(index, { code: 'DUPLICATE', field, message });
    }
  }
  return new Map([...duplicates].toSorted(([a], [b]) => a - b));
}

/** Writes what is left to write, and tells by storeId what became of it. */
async function applyBulk(
  tx: EntityManager,
  brand: ForBrand,
  { table, columns }: BulkTarget<never>,
  { records, deletes }: { records: PreparedRecord[]; deletes: string[] },
): Promise<Map<string, BulkResult>> {
  const upserted = await upsert(tx, brand, table, columns, records);
  const deleted = await remove(tx, brand, table, deletes);
  return new Map([...upserted, ...deleted].map((result) => [result.storeId, result]));
}

async function upsert(
  tx: EntityManager,
  brand: ForBrand,
  table: string,
  columns: BulkColumn[],
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
      ${updates.map(({ name, value }) => `${name} = ${value}`).join(', ')}, updated_at = greatest(excluded.updated_at, t.updated_at + interval '1 millisecond')
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

async function remove(
  tx: EntityManager,
  brand: ForBrand,
  table: string,
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

/** The ids of the products that variants name, which then cannot be deleted until the transaction ends. */
async function lockProducts(
  tx: EntityManager,
  brand: ForBrand,
  records: CreateVariantInput[],
): Promise<Map<string, string>> {
  const storeIds = [...new Set(records.map(({ productStoreId }) => productStoreId))];
  const rows = await queryInside<StoredId>(
    tx,
    `select id, store_id as "storeId" from product
     where brand_id = $1 and store_id = any ($2::text[]) order by id for key share`,
    [brand.id, storeIds],
  );
  return new Map(rows.map(({ storeId, id }) => [storeId, id]));
}
