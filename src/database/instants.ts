/**
 * Instants travel as text: PostgreSQL's on the way out of the database, ISO 8601 in UTC with
 * milliseconds in the interface and in cursors. Going through Date for every row would cost a
 * fifth of the CPU of a list.
 */

/** The full form of PostgreSQL's output, 26 characters: 2026-11-20 09:54:00.123+00. */
const FULL_LENGTH = 26;

/** RFC 3339 with a year of four digits, and any fraction down to nanoseconds. */
const ISO_INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|[+-]([01]\d|2[0-3]):([0-5]\d))$/;

/** Turns a `timestamptz(3)` as PostgreSQL writes it in a UTC session into ISO 8601. */
export function formatInstant(text: string): string {
  // The fraction is written without trailing zeros, and not at all where it is zero.
  const end = text.length === FULL_LENGTH ? 23 : text.indexOf('+');
  if (end < 19) throw new Error(`Not a timestamp of a UTC session: ${text}`);
  const time = text.slice(11, end);
  const padded = end === 23 ? time : time.padEnd(9, time.length === 8 ? '.' : '0').padEnd(12, '0');
  return `${text.slice(0, 10)}T${padded}Z`;
}

/**
 * Reads an ISO 8601 instant with a time zone and gives its canonical form in UTC. What is finer
 * than a millisecond is cut off, so that "after" never skips. Null where it is none: no zone, a
 * 30 February, 24:00, a leap second, a year before 1 or after 9999.
 */
export function parseInstant(text: string): string | null {
  const match = ISO_INSTANT.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second, fraction = ''] = match;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const wall = new Date(`${local}Z`);
  // Date moves 30 February to March; what comes back must be what went in.
  if (Number.isNaN(wall.getTime()) || wall.toISOString().slice(0, 19) !== local) return null;
  const zone = /[Zz]$/.test(text) ? 'Z' : text.slice(-6);
  const instant = new Date(`${local}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`);
  const canonical = instant.toISOString();
  // PostgreSQL knows no year 0, and the interface no year of five digits.
  return canonical.length === 24 && canonical >= '0001' ? canonical : null;
}
