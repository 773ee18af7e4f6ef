import type { EntityManager } from '@mikro-orm/postgresql';

import { parseId } from '../database/ids.ts';
import { query, queryInside } from '../database/statements.ts';
import { write } from '../database/write.ts';
import { BadInputError, CursorExpiredError } from '../errors.ts';
import { decodeEventCursor, encodeEventCursor } from './cursors.ts';
import type { EventData, EventType } from './outbox.ts';

/** Opens the empty log of a new brand, inside the transaction of `tx`. */
export async function openLog(tx: EntityManager, brandId: string): Promise<void> {
  await queryInside(tx, 'insert into event_log (brand_id) values ($1)', [brandId]);
}

/**
 * Opens the logs that are missing: a replica of the version before there were logs may make a brand
 * while this one is being rolled out. Until then its events wait in the outbox.
 */
export async function openMissingLogs(em: EntityManager): Promise<void> {
  const text = `insert into event_log (brand_id) select id from brand b
    where not exists (select 1 from event_log l where l.brand_id = b.id) on conflict do nothing`;
  await write(em, (tx) => queryInside(tx, text, []));
}

/** An event as it stands in its brand's log. */
export interface EventRow<Type extends EventType = EventType> {
  id: string;
  type: Type;
  /** Its place in the log: 1, 2, 3 and so on, without gaps. */
  position: number;
  /** The cursor right behind it. */
  cursor: string;
  /** When it happened, as PostgreSQL's text. */
  timestamp: string;
  data: EventData[Type];
}

/** A row as the database gives it: the position is a bigint as text. */
type StoredEvent = Omit<EventRow, 'position' | 'cursor'> & { position: string };

const COLUMNS = 'e.id, e.position::text as position, e.type, e.occurred_at as "timestamp", e.data';

/** Which events to read. */
export interface LogRequest {
  /** Cursors, or the ids of events: only what lies behind the one and ahead of the other. */
  after: string | null;
  before: string | null;
  /** How many, 1 to 100. */
  size: number;
  /** Whether it is the end of the range that is read, rather than the start. */
  isBackward: boolean;
  /** Only events of these types; all when it is empty. */
  types: readonly EventType[];
}

/** A page of the log, the oldest event first. */
export interface LogPage {
  events: EventRow[];
  hasNextPage: boolean;
  hasPreviousPage: boolean;
}

/**
 * Reads a page of a brand's log.
 *
 * @throws {BadInputError} at `after` or `before`, for what is no cursor of this log.
 * @throws {CursorExpiredError} when events behind `after` are no longer kept.
 */
export async function readLog(
  em: EntityManager,
  brandId: string,
  request: LogRequest,
): Promise<LogPage> {
  const log = await findLog(em, brandId);
  const [after, before] = await Promise.all([
    toPosition(em, brandId, log, 'after', request.after),
    toPosition(em, brandId, log, 'before', request.before),
  ]);
  if (after !== null) await checkKept(em, brandId, log, after);
  const range = { after: after ?? 0, before: before ?? log.lastPosition + 1 };
  const { size, isBackward, types } = request;
  const found = await readRange(em, brandId, range, types, size + 1, isBackward);
  const kept = found.slice(0, size);
  const events = (isBackward ? kept.toReversed() : kept).map((row) => toEventRow(row, log.key));
  const hasMore = found.length > size;
  const hasAhead = () => isAny(em, brandId, { after: 0, before: range.after + 1 }, types);
  const behind = { after: range.before - 1, before: Number.MAX_SAFE_INTEGER };
  const hasBehind = () => isAny(em, brandId, behind, types);
  return {
    events,
    hasNextPage: isBackward ? before !== null && (await hasBehind()) : hasMore,
    hasPreviousPage: isBackward ? hasMore : after !== null && (await hasAhead()),
  };
}

/** The cursor of where a brand's log ends now; also while it is empty. */
export async function readEndCursor(em: EntityManager, brandId: string): Promise<string> {
  const { key, lastPosition } = await findLog(em, brandId);
  return encodeEventCursor(key, lastPosition);
}

/** Events by id, in the order of the ids; null where the brand's log has no such event (any more). */
export async function getEvents(
  em: EntityManager,
  brandId: string,
  ids: readonly string[],
): Promise<(EventRow | null)[]> {
  const text = `select ${COLUMNS} from event e where e.brand_id = $1 and e.id = any ($2::uuid[])`;
  const [log, rows] = await Promise.all([
    findLog(em, brandId),
    query<StoredEvent>(em, text, [brandId, ids]),
  ]);
  const byId = new Map(rows.map((row) => [row.id, toEventRow(row, log.key)]));
  return ids.map((id) => byId.get(id) ?? null);
}

interface Log {
  /** Signs the log's cursors. */
  key: Buffer;
  lastPosition: number;
}

async function findLog(em: EntityManager, brandId: string): Promise<Log> {
  const text = `select encode(cursor_key, 'hex') as key, last_position::text as last
    from event_log where brand_id = $1`;
  const [row] = await query<{ key: string; last: string }>(em, text, [brandId]);
  if (!row) throw new Error(`There is no log of the brand ${brandId}.`);
  return { key: Buffer.from(row.key, 'hex'), lastPosition: Number(row.last) };
}

function toEventRow({ position, ...row }: StoredEvent, key: Buffer): EventRow {
  return { ...row, position: Number(position), cursor: encodeEventCursor(key, Number(position)) };
}

async function toPosition(
  em: EntityManager,
  brandId: string,
  { key, lastPosition }: Log,
  name: 'after' | 'before',
  cursor: string | null,
): Promise<number | null> {
  if (cursor === null) return null;
  const id = parseId(cursor);
  const position = id ? await findPosition(em, brandId, id) : decodeEventCursor(key, cursor);
  if (position !== null && position <= lastPosition) return position;
  const message = id
    ? "is the id of no event in this brand's log; a cursor says so when its events are no longer kept"
    : "must be a cursor of this brand's log or the id of an event in it";
  throw new BadInputError([{ path: [name], message }]);
}

async function findPosition(
  em: EntityManager,
  brandId: string,
  id: string,
): Promise<number | null> {
  const text = 'select position::text as position from event where brand_id = $1 and id = $2';
  const [row] = await query<{ position: string }>(em, text, [brandId, id]);
  return row ? Number(row.position) : null;
}

/** Refuses to read on from a place behind which events have been dropped. */
async function checkKept(
  em: EntityManager,
  brandId: string,
  { key, lastPosition }: Log,
  after: number,
): Promise<void> {
  const text = `select position::text as position from event
    where brand_id = $1 order by position limit 1`;
  const [oldest] = await query<{ position: string }>(em, text, [brandId]);
  const start = oldest ? Number(oldest.position) - 1 : lastPosition;
  if (after < start) throw new CursorExpiredError(encodeEventCursor(key, start));
}

/**
 * Reads events between two positions, both exclusive, from one end on. Of several types each is
 * read by itself, so that a rare one is not looked for among all the others.
 */
async function readRange(
  em: EntityManager,
  brandId: string,
  { after, before }: { after: number; before: number },
  types: readonly EventType[],
  size: number,
  isBackward: boolean,
): Promise<StoredEvent[]> {
  const direction = isBackward ? 'desc' : 'asc';
  const from = `select ${COLUMNS}, e.position as place from event e
    where e.brand_id = $1 and e.position > $2::bigint and e.position < $3::bigint`;
  const end = `order by e.position ${direction} limit $4`;
  const values: unknown[] = [brandId, after, before, size];
  if (types.length === 0) return query<StoredEvent>(em, `${from} ${end}`, values);
  const text = `select page.* from unnest($5::text[]) as wanted (type)
    cross join lateral (${from} and e.type = wanted.type ${end}) page
    order by page.place ${direction} limit $4`;
  return query<StoredEvent>(em, text, [...values, [...new Set(types)]]);
}

async function isAny(
  em: EntityManager,
  brandId: string,
  range: { after: number; before: number },
  types: readonly EventType[],
): Promise<boolean> {
  return (await readRange(em, brandId, range, types, 1, false)).length > 0;
}
