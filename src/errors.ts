/**
 * The kinds of refusal. Services throw these and nothing else on purpose; `graphql/errors.ts` says
 * how each looks to a client. Anything else that is thrown is a fault of ours: masked and logged.
 */

/** Codes of refusals that depend on the state of the data; the schema's `UserErrorCode`. */
export const USER_ERROR_CODES = {
  NOT_FOUND: 'No record of this brand is known by that id or storeId.',
  TAKEN: 'Another record already has the value, which must be unique.',
  INVALID: 'The value does not fit the record as it stands.',
  DUPLICATE: 'The same storeId twice in one call, deletes included: every occurrence is FAILED.',
  CUSTOM_AUTH_DISABLED: 'The brand does not sign its users in itself, and this needs it.',
  MEMBER_BANNED: 'The member is banned.',
  LIMIT_REACHED: 'The brand already has as many of these as it may have.',
  MAIL_UNAVAILABLE: 'The mail server did not take the message; nothing was changed.',
} as const;

type UserErrorCode = keyof typeof USER_ERROR_CODES;

/** One refusal that depends on the state of the data. */
export interface UserError {
  code: UserErrorCode;
  /** The path into `input`; list indexes are written as strings. */
  field: string[] | null;
  message: string;
}

/** The refusal of a change to, or by way of, a record that there is not; `field` leads to its id. */
export function idNotFound(what: string, id: string, field: string[] = ['id']): UserError {
  return { code: 'NOT_FOUND', field, message: `There is no ${what} with the id ${id}.` };
}

/** A change was refused for the state of the data, and nothing of it was done. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  readonly userErrors: UserError[];

  constructor(...userErrors: UserError[]) {
    super(userErrors.map((error) => error.message).join(' '));
    this.userErrors = userErrors;
  }
}

/** The most issues that one error names. */
export const MAX_ISSUES = 50;

/** Where input is wrong and what the rule is; `path` begins at the argument. */
export interface InputIssue {
  path: (string | number)[];
  message: string;
}

/** The input could not be valid in any state of the data. Shown as `BAD_USER_INPUT`. */
export class BadInputError extends Error {
  override name = 'BadInputError';
  readonly issues: InputIssue[];

  /** Only the first 50 issues are kept; what is wrong in one place is often wrong in many. */
  constructor(issues: InputIssue[]) {
    super(summarize(issues));
    this.issues = issues.slice(0, MAX_ISSUES);
  }
}

/** A getter by id or storeId found nothing in this brand. Shown as `NOT_FOUND`. */
export class NotFoundError extends Error {
  override name = 'NotFoundError';
}

/** There is no usable credential. Refuses the whole request with 401 `UNAUTHENTICATED`. */
export class UnauthenticatedError extends Error {
  override name = 'UnauthenticatedError';
}

/** Events behind a cursor are no longer kept. Shown as `CURSOR_EXPIRED`. */
export class CursorExpiredError extends Error {
  override name = 'CursorExpiredError';
  /** The cursor that the log now starts behind. */
  readonly oldestCursor: string;

  constructor(oldestCursor: string) {
    super('Events behind this cursor are no longer kept; the log now starts at oldestCursor.');
    this.oldestCursor = oldestCursor;
  }
}

/** Counting went on for too long and was stopped. Shown as `QUERY_TOO_COSTLY`. */
export class CountTimedOutError extends Error {
  override name = 'CountTimedOutError';
}

function summarize(issues: InputIssue[]): string {
  const [first, ...others] = issues;
  if (!first) return 'The input is invalid.';
  const place = first.path.join('.');
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return `${place ? `${place}: ` : ''}${first.message}${more}`;
}
