import { type Logger, pino } from 'pino';

import type { LogLevel } from './config.ts';

/**
 * An error without what holds personal data by its nature: its other properties, such as the values
 * of the statement that failed, and what MikroORM appends to the message, PostgreSQL's detail, which
 * holds the row. The message itself stays.
 */
export const LOG_SERIALIZERS = {
  err: ({ name, message, stack, code }: Error & { code?: unknown }) => {
    const shown = message.replace(DETAIL, '');
    return { name, code, message: shown, stack: stack?.replace(message, () => shown) };
  },
};

/** As in "duplicate key value violates unique constraint … - detail: Key (username)=(mara) …". */
const DETAIL = /\s*- (detail|hint|context): [^]*$/i;

/**
 * The log: one JSON object a line on standard error, so that standard output stays for people.
 * Field names carry their units. No key, token or personal data is ever given to it.
 */
export function createLog(level: LogLevel): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: LOG_SERIALIZERS,
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
