import { parseId } from './ids.ts';
import { formatInstant, parseInstant } from './instants.ts';

/** The values of a record's key in a list, in the key's order, as SQL takes them. */
export type KeyValues = (string | number)[];

type KeyType = 'timestamptz' | 'uuid' | 'integer';

interface KeyColumn {
  /** The column in SQL, with its table's alias. */
  sql: string;
  type: KeyType;
  /** The row's property that holds the value. */
  property: string;
}

/** What a list is ordered by. The last column is unique, so that the order is total. */
export interface ListKey {
  /** Stands in the cursor, so that a cursor of one list is not taken for another's. */
  tag: string;
  columns: KeyColumn[];
  /**
   * Whether a page without a cursor is read from the lowest key on that there can be, which is no
   * condition, but has PostgreSQL read the index in order even while it has no statistics: it would
   * take a long list for a short one otherwise, and read and sort all of it. Not together with a
   * cursor, beside which it would start at the wrong one of the two.
   */
  isGuided?: boolean;
}

/**
 * By creation time, then id: the order of every list unless it says otherwise. The values may stand
 * in another table than the record's, which has the index; a cursor is the same either way.
 */
export function creationKey(tag: string, createdAt = 't.created_at', id = 't.id'): ListKey {
  return {
    tag,
    columns: [
      { sql: createdAt, type: 'timestamptz', property: 'createdAt' },
      { sql: id, type: 'uuid', property: 'id' },
    ],
  };
}

const MAX_INTEGER = 2_147_483_647;

/** The lowest values that there can be, as SQL takes them. */
export const LOWEST: Record<KeyType, string | number> = {
  timestamptz: '-infinity',
  uuid: '00000000-0000-0000-0000-000000000000',
  integer: -MAX_INTEGER,
};

/**
 * Encodes a record's place in a list: base64url of the key's tag and values. It stands on its own,
 * so it goes on working when the record is deleted. Opaque to clients.
 */
export function encodeCursor(key: ListKey, row: object): string {
  const values = key.columns.map(({ property, type }) => {
    const value = String((row as Record<string, unknown>)[property]);
    return type === 'timestamptz' ? formatInstant(value) : value;
  });
  return Buffer.from([key.tag, ...values].join(',')).toString('base64url');
}

/** Decodes what `encodeCursor` made for this key, or null for anything else whatever. */
export function decodeCursor(key: ListKey, cursor: string): KeyValues | null {
  const bytes = Buffer.from(cursor, 'base64url');
  const [tag, ...parts] = bytes.toString('utf8').split(',');
  if (tag !== key.tag || parts.length !== key.columns.length) return null;
  // Only the one canonical spelling: base64 decoding skips what it does not know.
  if (bytes.toString('base64url') !== cursor) return null;
  const values = key.columns.map(({ type }, index) => parseKeyValue(type, parts[index] ?? ''));
  return values.every((value) => value !== null) ? values : null;
}

function parseKeyValue(type: KeyType, text: string): string | number | null {
  if (type === 'uuid') return parseId(text);
  if (type === 'timestamptz') return parseInstant(text);
  const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return Math.abs(value) <= MAX_INTEGER ? value : null;
}
