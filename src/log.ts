import { type Logger, pino } from 'pino';

import type { LogLevel } from './config.ts';

/** An error without its other properties: a driver's hold the values of the statement that failed. */
export const LOG_SERIALIZERS = {
  err: ({ name, message, stack, code }: Error & { code?: unknown }) => ({
    name,
    code,
    message,
    stack,
  }),
};

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
