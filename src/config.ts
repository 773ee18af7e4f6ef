import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';

import { z } from 'zod';

/** Everything that can be set from outside, read once at the start. Times are in the unit of their name. */
export interface Config {
  /** TCP port of the HTTP server; 0 takes a free one. */
  port: number;
  /** The address to listen on. */
  host: string;
  /** Where clients reach the service, without a slash at the end; undefined means http://HOST:PORT. */
  publicUrl: string | undefined;
  /** Absolute path of the folder for the embedded database and the keys that are made for it. */
  dataDir: string;
  /** A postgres:// URL, or undefined for the embedded database. */
  databaseUrl: string | undefined;
  /** The operator's credential; undefined only with the embedded database, which makes its own. */
  platformKey: string | undefined;
  /** A smtp:// or smtps:// URL of the server that takes mails, or undefined for none. */
  smtpUrl: string | undefined;
  /** The address that mails come from; undefined means no-reply@ the public URL's host. */
  mailFrom: string | undefined;
  /** For how many days an event is kept after it entered the log. */
  eventRetentionDays: number;
  logLevel: LogLevel;
  /** Whether the embedded database gets a demo brand on its first start. */
  isDemoEnabled: boolean;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The environment asks for something that cannot be; the message lists every variable at fault. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

const SWITCHES: Record<string, boolean> = {
  on: true,
  '1': true,
  true: true,
  off: false,
  '0': false,
  false: false,
};

const switchValue = z.string().transform((text, context) => {
  const value = SWITCHES[text.toLowerCase()];
  if (value === undefined) context.addIssue('must be on, off, 1, 0, true or false');
  return value ?? false;
});

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a whole number from 0 to 65535')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be a whole number from 0 to 65535');

const publicUrl = z
  .string()
  .refine(
    isPlainHttpUrl,
    'must be an http or https URL without user, query or fragment, as in https://community.example.com',
  )
  .transform((text) => text.replace(/\/+$/, ''));

const databaseUrl = z
  .string()
  .refine(
    (text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text),
    'must be a postgres:// URL, as in postgres://user:password@host:5432/database, with special characters of ' +
      'the password percent-encoded',
  );

const platformKey = z
  .string()
  .regex(/^[\x21-\x7e]*$/, 'must be of printable ASCII characters without spaces')
  .min(32, 'must be at least 32 characters, as from: openssl rand -hex 32')
  .max(256, 'must be at most 256 characters');

const smtpUrl = z
  .string()
  .refine(
    (text) => /^smtps?:\/\/[^/]/.test(text) && URL.canParse(text),
    'must be a smtp:// or smtps:// URL, as in smtp://user:password@mail.example:587, with special characters of ' +
      'the password percent-encoded',
  );

const mailFrom = z.email({
  pattern: z.regexes.unicodeEmail,
  error: 'must be an email address, as in no-reply@community.example.com',
});

const retentionDays = z
  .string()
  .regex(/^\d{1,4}$/, 'must be a whole number of days from 1 to 3650')
  .transform(Number)
  .refine((days) => days >= 1 && days <= 3650, 'must be a whole number of days from 1 to 3650');

const logLevel = z
  .string()
  .toLowerCase()
  .pipe(z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }));

const environmentSchema = z.object({
  PORT: port.default(4000),
  HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]+$/, 'must be a host name or an IP address without a port or brackets')
    .default('127.0.0.1'),
  PUBLIC_URL: publicUrl.optional(),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: databaseUrl.optional(),
  PLATFORM_KEY: platformKey.optional(),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: mailFrom.optional(),
  EVENT_RETENTION_DAYS: retentionDays.default(30),
  LOG_LEVEL: logLevel.default('info'),
  DEMO: switchValue.default(true),
});

/**
 * Turns environment variables into the configuration. A variable that is empty counts as unset.
 *
 * @throws {ConfigError} naming every variable that is wrong and what it may be; values are never
 *   repeated, because some are secret.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(set);
  const problems = parsed.success
    ? []
    : parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  if (set.DATABASE_URL !== undefined && set.PLATFORM_KEY === undefined) {
    problems.push(
      'PLATFORM_KEY is required with DATABASE_URL: every replica must know the same one',
    );
  }
  if (!parsed.success || problems.length > 0) {
    throw new ConfigError(
      `The configuration is wrong:\n${problems.map((p) => `  ${p}`).join('\n')}`,
    );
  }
  const values = parsed.data;
  return {
    port: values.PORT,
    host: values.HOST,
    publicUrl: values.PUBLIC_URL,
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DATABASE_URL,
    platformKey: values.PLATFORM_KEY,
    smtpUrl: values.SMTP_URL,
    mailFrom: values.MAIL_FROM,
    eventRetentionDays: values.EVENT_RETENTION_DAYS,
    logLevel: values.LOG_LEVEL,
    isDemoEnabled: values.DEMO,
  };
}

/** The address that a server on this host and port has by default: http://HOST:PORT. */
export function formatOrigin(host: string, portNumber: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${portNumber}`;
}

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  return isHttp && !url.username && !url.password && !url.search && !url.hash;
}
