import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand } from '../brands/service.ts';
import { queryInside } from '../database/statements.ts';
import { writeInTurn } from '../database/turns.ts';
import type { UserError } from '../errors.ts';
import {
  type BulkResult,
  type BulkTable,
  deleteRecords,
  type PreparedRecord,
  PRODUCT_TABLE,
  upsertRecords,
  VARIANT_TABLE,
} from './bulk-statements.ts';
import type { CreateProductInput } from './service.ts';
import { type CreateVariantInput, productNotFound } from './variant-service.ts';

/** The most records of either kind, upserts or deletes, in one call. */
export const MAX_BULK_RECORDS = 100;

type BulkErrorPolicy = 'REJECT_ALL' | 'SKIP_FAILED';

/** One bulk call. A nullable field that is left out is null on a new record, and stays on an old one. */
export interface BulkInput<Record> {
  upsertRecords?: Record[] | null;
  /** storeIds. */
  deleteRecords?: string[] | null;
  /** REJECT_ALL unless told. */
  errorPolicy?: BulkErrorPolicy | null;
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
    table: PRODUCT_TABLE,
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
    table: VARIANT_TABLE,
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

interface BulkTarget<Input> {
  table: BulkTable;
  /** Turns each input into what its columns take, or into why it cannot be written. */
  prepare: (tx: EntityManager, records: Input[]) => Promise<(PreparedRecord | UserError)[]>;
}

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
  return writeInTurn(em, brand.id, work);
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
  { table }: BulkTarget<never>,
  { records, deletes }: { records: PreparedRecord[]; deletes: string[] },
): Promise<Map<string, BulkResult>> {
  const upserted = await upsertRecords(tx, brand, table, records);
  const deleted = await deleteRecords(tx, brand, table, deletes);
  return new Map([...upserted, ...deleted].map((result) => [result.storeId, result]));
}

/** The ids of the products that variants name, which then cannot be deleted until the transaction ends. */
async function lockProducts(
  tx: EntityManager,
  brand: ForBrand,
  records: CreateVariantInput[],
): Promise<Map<string, string>> {
  const storeIds = [...new Set(records.map(({ productStoreId }) => productStoreId))];
  const rows = await queryInside<{ id: string; storeId: string }>(
    tx,
    `select id, store_id as "storeId" from product
     where brand_id = $1 and store_id = any ($2::text[]) order by id for key share`,
    [brand.id, storeIds],
  );
  return new Map(rows.map(({ storeId, id }) => [storeId, id]));
}
