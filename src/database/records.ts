import type { EntityManager } from '@mikro-orm/postgresql';

import { query, queryInside } from './statements.ts';

/** Where the records of one type are read from, as plain rows. */
export interface RecordSource {
  /** What its records are called, in lower case. */
  name: string;
  /**
   * The columns to read, each `as` a property of the row. They hold the id, what the lists are
   * ordered by, and `__typename`, by which GraphQL tells the rows of `node` apart.
   */
  columns: string;
  /** What follows `from`. The table that the records are of is `t`; it has a column brand_id. */
  from: string;
}

/** Records by id with one statement, in the order of the ids; null where the brand has none such. */
export async function getRecords<Row extends { id: string }>(
  em: EntityManager,
  brandId: string,
  source: RecordSource,
  ids: readonly string[],
): Promise<(Row | null)[]> {
  const text = `select ${source.columns} from ${source.from}
    where t.brand_id = $1 and t.id = any ($2::uuid[])`;
  const rows = await query<Row>(em, text, [brandId, ids]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** The record with the brand's own identifier, or null. */
export async function findRecordByStoreId<Row>(
  em: EntityManager,
  brandId: string,
  source: RecordSource,
  storeId: string,
): Promise<Row | null> {
  const text = `select ${source.columns} from ${source.from}
    where t.brand_id = $1 and t.store_id = $2`;
  const [row] = await query<Row>(em, text, [brandId, storeId]);
  return row ?? null;
}

/** A record as it stands inside the transaction of `tx`, which has just written it. */
export async function readWritten<Row>(
  tx: EntityManager,
  brandId: string,
  source: RecordSource,
  id: string,
): Promise<Row> {
  const text = `select ${source.columns} from ${source.from} where t.brand_id = $1 and t.id = $2`;
  const [row] = await queryInside<Row>(tx, text, [brandId, id]);
  if (!row) throw new Error(`A ${source.name} that was just written is gone: ${id}`);
  return row;
}

/**
 * The fields that would be different from what the record holds; null when none would. A field
 * that is undefined was left out, and stays.
 */
export function pickChanges<Fields extends object>(
  record: object,
  fields: Fields,
): Partial<Fields> | null {
  const changed = Object.entries(fields).filter(
    ([name, value]) => value !== undefined && value !== Reflect.get(record, name),
  );
  return changed.length > 0 ? (Object.fromEntries(changed) as Partial<Fields>) : null;
}
