import type { EntityManager } from '@mikro-orm/postgresql';

import { CountTimedOutError } from '../errors.ts';
import { creationKey, type KeyValues, type ListKey, LOWEST } from './cursors.ts';
import { getRecords, type RecordSource } from './records.ts';
import { query, queryInside } from './statements.ts';
import { write } from './write.ts';

/** PostgreSQL's query_canceled, which a statement gets that ran into its time-out. */
const QUERY_CANCELED = '57014';

const COUNT_TIMEOUT_MS = 1_000;

/** The most records of a narrow list that are collected to be put in order. */
const MAX_COLLECTED = 1_000;

/** A condition on the records of a list. */
export interface Filter {
  /** SQL in which `?` stands for the value. */
  sql: string;
  value: unknown;
  /** Whether its value decides if it lets few or most records through, as a time does; see `readPage`. */
  mayBeNarrow?: boolean;
}

/** A list of a brand's records: what they are read from, which of them it holds, and its order. */
export interface RecordList {
  source: RecordSource;
  /** Read instead of the source's own `from`: a join that also has another table than the records'. */
  from?: string;
  filters: Filter[];
  key: ListKey;
}

/** The lists of the records that belong to a parent, such as the variants of each product. */
export interface NestedList {
  source: RecordSource;
  /** As in `RecordList`. */
  from?: string;
  /** The column in SQL, with its table's alias, that holds the parent's id. */
  parent: string;
  key: ListKey;
}

/** A record of a nested list, with the parent in whose list it is. */
type OfParent<Row> = Row & { parentId: string };

/** The list of those records of a source that pass the filters, by creation time. */
export function listOf(source: RecordSource, filters: Filter[]): RecordList {
  return { source, filters, key: creationKey(source.name) };
}

/** Which page of which list; made and checked by `graphql/connections.ts`. */
export interface PageRequest {
  key: ListKey;
  /** Whether the list runs against its key: newest first. */
  isDescending: boolean;
  /** How many records, 1 to 100. */
  size: number;
  /** Whether the page is the end of its range (`last`) rather than the start (`first`). */
  isBackward: boolean;
  after: KeyValues | null;
  before: KeyValues | null;
}

/** A page as read: in the list's order, whichever way it was paged. */
export interface Page<Row> {
  rows: Row[];
  /** Whether the range goes on beyond the page, in the direction of paging. */
  hasMore: boolean;
}

/** Numbers the values of one statement while its text is put together. */
class StatementBuilder {
  readonly values: unknown[] = [];

  bind(value: unknown, type?: string): string {
    this.values.push(value);
    return `$${this.values.length}${type ? `::${type}` : ''}`;
  }

  /** The conditions that make a list of a source: the brand's records that pass the filters. */
  conditions(brandId: string, filters: Filter[]): string[] {
    const passing = filters.map(({ sql, value }) => sql.replace('?', this.bind(value)));
    return [`t.brand_id = ${this.bind(brandId)}`, ...passing];
  }

  /** `t`'s key compared with given values; a row comparison, which one index answers. */
  compare(key: ListKey, operator: '<' | '<=' | '>' | '>=', values: KeyValues): string {
    const columns = key.columns.map(({ sql }) => sql).join(', ');
    const bound = key.columns.map(({ type }, index) => this.bind(values[index], type)).join(', ');
    return `(${columns}) ${operator} (${bound})`;
  }
}

/** A list that may be narrow is planned by its values each time. */
function planOf(filters: Filter[]) {
  return { isPlannedByValue: filters.some(({ mayBeNarrow }) => mayBeNarrow) };
}

/**
 * Reads one page of a brand's records with one statement, by keyset: the cost follows the page's
 * size, not its depth. One record more than asked for is read, which tells whether there are more.
 *
 * A list that may be narrow takes a second statement. Its order is not that of the filter's index,
 * so its records are found either in order, passing over the others, or all at once, to be ordered
 * then. PostgreSQL, seeing the limit, chooses the first, which reads a whole list for the three
 * records at its end; so it is asked first whether there are few.
 */
export async function readPage<Row extends object>(
  em: EntityManager,
  brandId: string,
  list: RecordList,
  page: PageRequest,
): Promise<Page<Row>> {
  const { source, from = source.from, filters } = list;
  const sql = new StatementBuilder();
  let conditions = sql.conditions(brandId, filters);
  let collected = '';
  if (planOf(filters).isPlannedByValue && (await isNarrow(em, brandId, list))) {
    const passing = `select t.id from ${from} where ${conditions.join(' and ')}`;
    collected = `with passing as materialized (${passing})`;
    conditions = ['t.id in (select id from passing)'];
  }
  const text = `${collected} select ${source.columns} from ${from} ${range(sql, conditions, page)}`;
  const rows = await query<Row>(em, text, sql.values, planOf(filters));
  return toPage(rows, page);
}

/** Whether a list has at most 1,000 records, found without counting on. */
async function isNarrow(
  em: EntityManager,
  brandId: string,
  { source, from = source.from, filters }: RecordList,
): Promise<boolean> {
  const sql = new StatementBuilder();
  const where = sql.conditions(brandId, filters).join(' and ');
  const first = `select 1 from ${from} where ${where} limit ${MAX_COLLECTED + 1}`;
  const text = `select count(*)::int as count from (${first}) first_few`;
  const [row] = await query<{ count: number }>(em, text, sql.values, planOf(filters));
  return (row?.count ?? 0) <= MAX_COLLECTED;
}

/**
 * Reads the same page of several parents' lists with one statement, one page for each parent in
 * the order given.
 */
export async function readPages<Row extends object>(
  em: EntityManager,
  brandId: string,
  { source, from = source.from, parent }: NestedList,
  parentIds: readonly string[],
  page: PageRequest,
): Promise<Page<Row>[]> {
  const sql = new StatementBuilder();
  const conditions = [`t.brand_id = ${sql.bind(brandId)}`, `${parent} = parent.id`];
  const parents = sql.bind(parentIds, 'uuid[]');
  const order = page.key.columns.map(({ property }) => `page."${property}" ${direction(page)}`);
  const text = `
    select parent.id as "parentId", page.* from unnest(${parents}) with ordinality as parent (id, place)
    cross join lateral (
      select ${source.columns} from ${from} ${range(sql, conditions, page)}
    ) page
    order by parent.place, ${order.join(', ')}`;
  const rows = await query<OfParent<Row>>(em, text, sql.values);
  const byParent = Map.groupBy(rows, ({ parentId }) => parentId);
  return parentIds.map((id) => toPage(byParent.get(id) ?? [], page));
}

/**
 * Whether a list has records beyond a cursor that bounds the page: ahead of `after`, or behind
 * `before`; the cursor's own record counts, while there is one.
 */
export async function readHasBeyond(
  em: EntityManager,
  brandId: string,
  { source, from = source.from, filters }: RecordList,
  page: PageRequest,
  side: 'after' | 'before',
): Promise<boolean> {
  const sql = new StatementBuilder();
  const conditions = [...sql.conditions(brandId, filters), beyond(sql, page, side)];
  const text = `select exists (select 1 from ${from} where ${conditions.join(' and ')}) as found`;
  const [row] = await query<{ found: boolean }>(em, text, sql.values, planOf(filters));
  return row?.found ?? false;
}

/** As `readHasBeyond`, for the lists of several parents, with one statement. */
export async function readHaveBeyond(
  em: EntityManager,
  brandId: string,
  { source, from = source.from, parent }: NestedList,
  parentIds: readonly string[],
  page: PageRequest,
  side: 'after' | 'before',
): Promise<boolean[]> {
  const sql = new StatementBuilder();
  const conditions = [`t.brand_id = ${sql.bind(brandId)}`, `${parent} = parent.id`];
  const parents = sql.bind(parentIds, 'uuid[]');
  const where = [...conditions, beyond(sql, page, side)].join(' and ');
  const text = `select parent.id from unnest(${parents}) as parent (id)
    where exists (select 1 from ${from} where ${where})`;
  const rows = await query<{ id: string }>(em, text, sql.values);
  const found = new Set(rows.map(({ id }) => id));
  return parentIds.map((id) => found.has(id));
}

/**
 * Counts a list's records, all pages together.
 *
 * @throws {CountTimedOutError} when it takes longer than a second (on PostgreSQL; the embedded
 *   database has no time-outs).
 */
export async function countRecords(
  em: EntityManager,
  brandId: string,
  { source, from = source.from, filters }: RecordList,
): Promise<number> {
  const sql = new StatementBuilder();
  const conditions = sql.conditions(brandId, filters);
  const text = `select count(*)::int as count from ${from} where ${conditions.join(' and ')}`;
  const [row] = await queryWithin<{ count: number }>(em, text, sql.values);
  return row?.count ?? 0;
}

/** As `countRecords`, for the lists of several parents, with one statement. */
export async function countRecordsByParent(
  em: EntityManager,
  brandId: string,
  { source, from = source.from, parent }: NestedList,
  parentIds: readonly string[],
): Promise<number[]> {
  const text = `select ${parent} as parent, count(*)::int as count from ${from}
    where t.brand_id = $1 and ${parent} = any ($2::uuid[]) group by 1`;
  const rows = await queryWithin<{ parent: string; count: number }>(em, text, [brandId, parentIds]);
  const counts = new Map(rows.map(({ parent: id, count }) => [id, count]));
  return parentIds.map((id) => counts.get(id) ?? 0);
}

type KeyedRow = { id: string } & Record<string, unknown>;

/**
 * Looks up a record's place in a list by its bare id, which is accepted as a cursor too. Null where
 * the brand has no such record (any more).
 */
export async function readKeyValues(
  em: EntityManager,
  brandId: string,
  source: RecordSource,
  key: ListKey,
  id: string,
): Promise<KeyValues | null> {
  const [record] = await getRecords<KeyedRow>(em, brandId, source, [id]);
  return record ? key.columns.map(({ property }) => record[property] as string | number) : null;
}

function range(sql: StatementBuilder, conditions: string[], page: PageRequest): string {
  const { key, isDescending, after, before, size } = page;
  const all = [...conditions];
  if (after) all.push(sql.compare(key, isDescending ? '<' : '>', after));
  if (before) all.push(sql.compare(key, isDescending ? '>' : '<', before));
  if (key.isGuided && !after && !before) {
    const lowest = key.columns.map(({ type }) => LOWEST[type]);
    all.push(sql.compare(key, '>', lowest));
  }
  const order = key.columns.map(({ sql: column }) => `${column} ${direction(page)}`).join(', ');
  return `where ${all.join(' and ')} order by ${order} limit ${sql.bind(size + 1)}`;
}

/** The direction in which the index is read: the list's own, turned round for a page from its end. */
function direction({ isDescending, isBackward }: PageRequest): 'asc' | 'desc' {
  return isDescending === isBackward ? 'asc' : 'desc';
}

function beyond(sql: StatementBuilder, page: PageRequest, side: 'after' | 'before'): string {
  const cursor = page[side];
  if (!cursor) throw new Error(`There is nothing beyond a page that is not bounded by ${side}.`);
  // Ahead in the list is lower in its key, unless the list runs against it.
  const isLower = (side === 'after') !== page.isDescending;
  return sql.compare(page.key, isLower ? '<=' : '>=', cursor);
}

function toPage<Row>(rows: Row[], { size, isBackward }: PageRequest): Page<Row> {
  const hasMore = rows.length > size;
  const kept = hasMore ? rows.slice(0, size) : rows;
  return { rows: isBackward ? kept.toReversed() : kept, hasMore };
}

async function queryWithin<Row>(
  em: EntityManager,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  try {
    return await write(em, async (tx) => {
      await queryInside(tx, `set local statement_timeout = ${COUNT_TIMEOUT_MS}`, []);
      return queryInside<Row>(tx, text, values);
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== QUERY_CANCELED) throw error;
    throw new CountTimedOutError(
      `Counting took longer than ${COUNT_TIMEOUT_MS} ms and was stopped; page through the list instead.`,
    );
  }
}
