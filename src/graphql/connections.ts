import type { ObjectRef } from '@pothos/core';

import { decodeCursor, encodeCursor, type KeyValues, type ListKey } from '../database/cursors.ts';
import { parseId } from '../database/ids.ts';
import {
  countRecords,
  countRecordsByParent,
  type NestedList,
  type Page,
  type PageRequest,
  readHasBeyond,
  readHaveBeyond,
  readKeyValues,
  readPage,
  readPages,
  type RecordList,
} from '../database/paging.ts';
import type { RecordSource } from '../database/records.ts';
import { BadInputError } from '../errors.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

/** The arguments that every list takes, as GraphQL gives them. */
export interface PageArguments {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  order?: 'OLDEST_FIRST' | 'NEWEST_FIRST' | null;
}

const DEFAULT_PAGE_SIZE = 10;
const MAX_PAGE_SIZE = 100;

/**
 * Reads the page of a list that the arguments ask for, as a connection.
 *
 * @throws {BadInputError} at the argument that is out of its bounds or no cursor of this list.
 */
export async function readConnection<Row extends object>(
  context: Context,
  list: RecordList,
  args: PageArguments,
): Promise<Connection<Row>> {
  const { em, viewer } = context;
  const request = await toPageRequest(context, list.source, list.key, args);
  const page = await readPage<Row>(em, viewer.brand.id, list, request);
  return new Connection(page, request, {
    hasBeyond: (side) => readHasBeyond(em, viewer.brand.id, list, request, side),
    count: () => countRecords(em, viewer.brand.id, list),
  });
}

/**
 * As `readConnection`, for the list of one parent. However many parents a query has, their pages
 * are read with one statement, their counts with another, and so on.
 */
export async function readNestedConnection<Row extends object>(
  context: Context,
  list: NestedList,
  parentId: string,
  args: PageArguments,
): Promise<Connection<Row>> {
  const { em, loaders, viewer } = context;
  const brandId = viewer.brand.id;
  const { first, after, last, before } = args;
  const { source, parent, key } = list;
  const name = `${source.name} of ${parent} ${JSON.stringify([first, after, last, before])}`;
  const pages = loaders.get(name, async (parentIds) => {
    const asked = await toPageRequest(context, source, key, args);
    const read = await readPages<Row>(em, brandId, list, parentIds, asked);
    return read.map((page) => ({ page, request: asked }));
  });
  const { page, request } = await pages.load(parentId);
  return new Connection(page, request, {
    hasBeyond: (side) =>
      loaders
        .get(`${name} ${side}`, (ids) => readHaveBeyond(em, brandId, list, ids, request, side))
        .load(parentId),
    count: () =>
      loaders
        .get(`${source.name} of ${parent} count`, (ids) =>
          countRecordsByParent(em, brandId, list, ids),
        )
        .load(parentId),
  });
}

/** Checks the arguments of a list and turns them into the page to read. */
async function toPageRequest(
  context: Context,
  source: RecordSource,
  key: ListKey,
  args: PageArguments,
): Promise<PageRequest> {
  const { order } = args;
  const { size, isBackward } = readSize(args);
  const toPlace = (name: 'after' | 'before') => readPlace(context, source, key, name, args[name]);
  const [after, before] = await Promise.all([toPlace('after'), toPlace('before')]);
  return {
    key,
    isDescending: order === 'NEWEST_FIRST',
    size,
    isBackward,
    after,
    before,
  };
}

/**
 * Reads how long a page is, and from which end of its range.
 *
 * @throws {BadInputError} at `first` or `last`.
 */
export function readSize({ first = null, last = null }: PageArguments): {
  size: number;
  isBackward: boolean;
} {
  if (first !== null && last !== null) {
    throw new BadInputError([{ path: ['last'], message: 'must not be given together with first' }]);
  }
  checkSize('first', first);
  checkSize('last', last);
  return { size: first ?? last ?? DEFAULT_PAGE_SIZE, isBackward: last !== null };
}

function checkSize(name: string, size: number | null): void {
  if (size === null || (size >= 1 && size <= MAX_PAGE_SIZE)) return;
  throw new BadInputError([
    {
      path: [name],
      message: `must be from 1 to ${MAX_PAGE_SIZE}, and is ${size}`,
    },
  ]);
}

async function readPlace(
  { em, viewer }: Context,
  source: RecordSource,
  key: ListKey,
  name: 'after' | 'before',
  cursor: string | null | undefined,
): Promise<KeyValues | null> {
  if (cursor === null || cursor === undefined) return null;
  const id = parseId(cursor);
  const place = id
    ? await readKeyValues(em, viewer.brand.id, source, key, id)
    : decodeCursor(key, cursor);
  if (place) return place;
  const message = id
    ? 'is the id of no record in this list; a cursor would be good even after its record is deleted'
    : 'must be a cursor of this list or the id of a record in it';
  throw new BadInputError([{ path: [name], message }]);
}

/** How a connection gets what only some queries ask for. Each is called at most once a query. */
interface Lookups {
  /** Whether the list has records at or beyond the cursor that the page was bounded by on a side. */
  hasBeyond: (side: 'after' | 'before') => Promise<boolean>;
  count: () => Promise<number>;
}

/** One page of a list as Relay's connection. What costs a statement or a cursor is made when asked for. */
export class Connection<Row extends object> {
  readonly #page: Page<Row>;
  readonly #request: PageRequest;
  readonly #lookups: Lookups;
  readonly edges: Edge<Row>[];

  constructor(page: Page<Row>, request: PageRequest, lookups: Lookups) {
    this.#page = page;
    this.#request = request;
    this.#lookups = lookups;
    this.edges = page.rows.map((row) => new Edge(request.key, row));
  }

  get pageInfo(): PageInfo {
    const { hasMore } = this.#page;
    const { hasBeyond } = this.#lookups;
    const { isBackward, after, before } = this.#request;
    const { edges } = this;
    const hasAhead = () => (after ? whenAsked(() => hasBeyond('after')) : false);
    const hasBehind = () => (before ? whenAsked(() => hasBeyond('before')) : false);
    return {
      get hasNextPage() {
        return (!isBackward && hasMore) || hasBehind();
      },
      get hasPreviousPage() {
        return (isBackward && hasMore) || hasAhead();
      },
      get startCursor() {
        return edges[0]?.cursor ?? null;
      },
      get endCursor() {
        return edges.at(-1)?.cursor ?? null;
      },
    };
  }

  countAll(): Promise<number> {
    return this.#lookups.count();
  }
}

/** GraphQL awaits what a property holds, which Pothos's type of it does not say: see `whenAsked`. */
interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string | null;
}

function whenAsked(lookUp: () => Promise<boolean>): boolean {
  return lookUp() as unknown as boolean;
}

class Edge<Row extends object> {
  readonly #key: ListKey;
  readonly node: Row;

  constructor(key: ListKey, node: Row) {
    this.#key = key;
    this.node = node;
  }

  get cursor(): string {
    return encodeCursor(this.#key, this.node);
  }
}

/** Defines `<Name>Connection` with `totalCount`, and `<Name>Edge`, for a type of records. */
export function defineConnection<Row extends object>(
  ref: ObjectRef<typeof builder.$inferSchemaTypes, Row>,
  plural: string,
) {
  const edge = builder.edgeObject({
    type: ref,
    name: `${ref.name}Edge`,
    description: `One of the ${plural} on a page, with its cursor.`,
  });
  return builder.connectionObject(
    {
      type: ref,
      name: `${ref.name}Connection`,
      description: `A page of ${plural}.`,
      fields: (t) => ({
        totalCount: t.int({
          nullable: true,
          description:
            `How many ${plural} the list has on all its pages. Counted only when asked for; null, with an error, ` +
            'when counting takes longer than a second.',
          resolve: (connection) => (connection as unknown as Connection<Row>).countAll(),
        }),
      }),
    },
    edge,
  );
}
