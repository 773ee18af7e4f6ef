import { z } from 'zod';

import { parseId } from '../database/ids.ts';
import { BadInputError } from '../errors.ts';

/**
 * Bounded kinds of input. Each gives a field its check and the sentence of its description that
 * says the bound, so that the two cannot part: `t.string({ required: true, ...text('The title.', 255) })`.
 */
interface Bounded<T> {
  description: string;
  validate: { schema: z.ZodType<T> };
}

/** The most characters of a storeId, a title and other single-line texts. */
export const MAX_LINE = 255;

const MAX_URL = 2_048;
const MAX_INTEGER = 2_147_483_647;
const MAX_PHONE_NUMBER = 32;

/** The longest address that a mail server takes (RFC 5321, 4.5.3.1.3, without the brackets). */
const MAX_EMAIL = 254;

const httpUrl = /^https?:\/\/[^\s/?#\\]/i;

function bounded<T>(about: string, rule: string, schema: z.ZodType<T>): Bounded<T> {
  return { description: `${about} ${rule}`, validate: { schema } };
}

/** What PostgreSQL can store as text: no NUL, and no half of a surrogate pair. */
function storable(schema: z.ZodString): z.ZodString {
  return schema.refine(
    (value) => !value.includes('\0') && value.isWellFormed(),
    'must not contain the character U+0000 or half of a surrogate pair',
  );
}

/** A text of `min` (1 unless told, or 0) to `max` characters, counted as Unicode code points. */
export function text(about: string, max: number, min: 0 | 1 = 1): Bounded<string> {
  const range = min === 0 ? `at most ${max}` : `${min} to ${max}`;
  const schema = storable(z.string()).refine(
    (value) => {
      // A code point takes one or two UTF-16 units, so most lengths are clear without counting.
      if (value.length > max * 2 || value.length < min) return false;
      return value.length <= max || countCodePoints(value) <= max;
    },
    {
      error: ({ input }) => `must be ${range} characters, and is ${countCodePoints(String(input))}`,
    },
  );
  return bounded(about, `${capitalize(range)} characters.`, schema);
}

function countCodePoints(value: string): number {
  return Array.from(value).length;
}

/** An absolute http or https URL. It is kept as given. */
export function url(about: string): Bounded<string> {
  const rule = `An absolute http or https URL of at most ${MAX_URL} characters.`;
  const schema = storable(z.string())
    .max(MAX_URL, `must be at most ${MAX_URL} characters`)
    .refine(
      (value) => httpUrl.test(value) && !/[\s\p{Cc}]/u.test(value) && URL.canParse(value),
      'must be an absolute http or https URL, as in https://www.example.com/page',
    );
  return bounded(about, rule, schema);
}

/**
 * A path with, if need be, query and fragment, which stays on whatever host it is put behind: what
 * a browser would read as the start of a host, `//` and its like, is refused. Kept as given.
 */
export function localPath(about: string, max: number): Bounded<string> {
  const rule = `A path of at most ${max} characters that begins with one slash and has no steps back.`;
  const schema = storable(z.string())
    .max(max, {
      error: ({ input }) => `must be at most ${max} characters, and is ${(input as string).length}`,
    })
    .refine(
      isLocalPath,
      'must be a path that begins with one slash, has no steps back and leads to no other host, as in /welcome?tab=new',
    );
  return bounded(about, rule, schema);
}

function isLocalPath(value: string): boolean {
  // Browsers read a backslash as a slash, and pass over tabs and line ends.
  if (!/^\/(?!\/)/.test(value) || /[\s\p{Cc}\\]/u.test(value)) return false;
  const [path = ''] = value.split(/[?#]/, 1);
  // It goes behind a path, which it must not leave either.
  if (path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) return false;
  const base = 'http://host.invalid';
  return URL.canParse(value, base) && new URL(value, base).origin === base;
}

/** As `url`, for an address to lead people to: without a user name or a password in it. */
export function landingUrl(about: string): Bounded<string> {
  const { description, validate } = url(about);
  const schema = validate.schema.refine(
    (value) => !URL.canParse(value) || !/^[^/]*\/\/[^/?#]*@/.test(value),
    'must not hold a user name or a password',
  );
  return { description: `${description} Without user name or password.`, validate: { schema } };
}

/** A whole number from `min` to the largest that the column holds. */
export function integer(about: string, min: number, max: number = MAX_INTEGER): Bounded<number> {
  const schema = z.number().refine((value) => value >= min && value <= max, {
    error: ({ input }) => `must be from ${min} to ${max}, and is ${String(input)}`,
  });
  return bounded(about, `From ${min} to ${max}.`, schema);
}

/** A currency by its ISO 4217 alphabetic code, in form: three capital letters. */
export function currency(about: string): Bounded<string> {
  const rule = 'An ISO 4217 code: three capital letters, as in EUR.';
  const schema = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code: three capital letters');
  return bounded(about, rule, schema);
}

/** The id of a record. Any UUID, upper or lower case; it reaches the resolver in lower case. */
export function id(about: string): Bounded<string> {
  const schema = z
    .string()
    .refine((value) => parseId(value) !== null, 'must be a UUID')
    .transform((value) => value.toLowerCase());
  return bounded(about, 'A UUID.', schema as unknown as z.ZodType<string>);
}

/** A colour as `#` and six hex digits, kept as given. */
export function color(about: string): Bounded<string> {
  const schema = z.string().regex(/^#[0-9a-f]{6}$/i, 'must be # and six hex digits, as in #1a2B3c');
  return bounded(about, '`#` and six hex digits, either case.', schema);
}

/**
 * An email address, kept as given: one address and nothing that a mail program could read as more
 * than that. Beyond ASCII too (RFC 6531).
 */
export function email(about: string): Bounded<string> {
  const rule = `An email address of at most ${MAX_EMAIL} characters.`;
  const schema = storable(z.string())
    .max(MAX_EMAIL, `must be at most ${MAX_EMAIL} characters`)
    .regex(
      /^[^\s\p{Cc}@"(),:;<>[\]\\]{1,64}@[^\s\p{Cc}@"(),:;<>[\]\\]+$/u,
      'must be an email address, as in mara@example.com',
    );
  return bounded(about, rule, schema);
}

/** A phone number as people write it: any text. */
export function phoneNumber(about: string): Bounded<string> {
  return text(about, MAX_PHONE_NUMBER);
}

/** At most `max` ids, which reach the resolver in lower case. */
export function idList(about: string, max: number) {
  const { description, validate } = list(about, max, 'ids');
  return { description, validate: { ...validate, items: id('').validate } };
}

/** At most `max` items. */
export function list(about: string, max: number, items = 'records') {
  const message = `must hold at most ${max} ${items}`;
  return {
    description: `${about} At most ${max}.`,
    validate: {
      type: 'array' as const,
      maxLength: [max, { message }] as [number, { message: string }],
    },
  };
}

/**
 * For an input type: these fields may be left out but not null, because the record's are never
 * null. On the type and not on the field: plugin-zod does not look at null in an optional field.
 */
export function refuseNull(...names: string[]) {
  return names.map((name): [(input: object) => boolean, { message: string; path: string[] }] => [
    (input) => Reflect.get(input, name) !== null,
    { message: 'must not be null; leave it out to keep what is there', path: [name] },
  ]);
}

function capitalize(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What plugin-zod found wrong, as a refusal; its paths begin at the argument already. */
export function toBadInput(error: z.ZodError): BadInputError {
  return new BadInputError(
    error.issues.map(({ path, message }) => ({
      path: path.map((step) => (typeof step === 'number' ? step : String(step))),
      message,
    })),
  );
}
