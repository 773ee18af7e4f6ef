import { v7 } from 'uuid';

/** Any UUID in its canonical text form; the version does not matter, the sender may have chosen it. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * A new UUIDv7 (RFC 9562). Rises with every call in this process, within one millisecond too, so
 * that records made together in one call keep their order under (created_at, id).
 */
export function newId(): string {
  return v7();
}

/** The id in lower case as the database writes it, or null where the text is no UUID. */
export function parseId(text: string): string | null {
  return UUID.test(text) ? text.toLowerCase() : null;
}
