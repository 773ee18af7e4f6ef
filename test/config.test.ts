import { describe, expect, it } from 'vitest';

import { ConfigError, formatOrigin, readConfig } from '../src/config.ts';

const KEY = 'k'.repeat(32);

function messageOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('The configuration was taken.');
}

describe('readConfig', () => {
  it('has a default for everything', () => {
    expect(readConfig({})).toEqual({
      port: 4000,
      host: '127.0.0.1',
      publicUrl: undefined,
      dataDir: `${process.cwd()}/.data`,
      databaseUrl: undefined,
      platformKey: undefined,
      smtpUrl: undefined,
      mailFrom: undefined,
      eventRetentionDays: 30,
      logLevel: 'info',
      isDemoEnabled: true,
    });
  });

  it('takes an empty value for unset', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '', PLATFORM_KEY: '', DEMO: '' })).toEqual(
      readConfig({}),
    );
  });

  it.each([
    ['on', true],
    ['1', true],
    ['true', true],
    ['TRUE', true],
    ['off', false],
    ['0', false],
    ['false', false],
  ])('takes %s for a switch', (text, value) => {
    expect(readConfig({ DEMO: text }).isDemoEnabled).toBe(value);
  });

  it('cuts the slash off PUBLIC_URL', () => {
    expect(readConfig({ PUBLIC_URL: 'https://api.example/base/' }).publicUrl).toBe(
      'https://api.example/base',
    );
  });

  it.each([
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['HOST', 'http://localhost'],
    ['PUBLIC_URL', 'api.example'],
    ['PUBLIC_URL', 'https://user@api.example'],
    ['PUBLIC_URL', 'ftp://api.example'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['PLATFORM_KEY', 'short'],
    ['PLATFORM_KEY', `${KEY} with a space`],
    ['SMTP_URL', 'mail.example:25'],
    ['SMTP_URL', 'http://mail.example'],
    ['SMTP_URL', 'smtp://'],
    ['MAIL_FROM', 'nobody'],
    ['EVENT_RETENTION_DAYS', '0'],
    ['EVENT_RETENTION_DAYS', 'a month'],
    ['LOG_LEVEL', 'loud'],
    ['DEMO', 'maybe'],
  ])('says what %s may be when it is %s', (name, value) => {
    expect(messageOf({ PLATFORM_KEY: KEY, [name]: value })).toMatch(
      new RegExp(`^  ${name} must be `, 'm'),
    );
  });

  it('names everything that is wrong at once, and never repeats a value', () => {
    const message = messageOf({
      PORT: 'abc',
      DATABASE_URL: 'postgres//secret',
      PLATFORM_KEY: 'tiny-secret',
    });
    expect(message.match(/^ {2}[A-Z_]+/gm)).toEqual(['  PORT', '  DATABASE_URL', '  PLATFORM_KEY']);
    expect(message).not.toContain('secret');
  });

  it('needs a PLATFORM_KEY with DATABASE_URL, since replicas must share it', () => {
    const url = 'postgres://localhost/x';
    expect(messageOf({ DATABASE_URL: url })).toContain(
      'PLATFORM_KEY is required with DATABASE_URL',
    );
    expect(readConfig({ DATABASE_URL: url, PLATFORM_KEY: KEY }).databaseUrl).toBe(url);
  });
});

describe('formatOrigin', () => {
  it('puts an IPv6 address into brackets', () => {
    expect(formatOrigin('::1', 4000)).toBe('http://[::1]:4000');
    expect(formatOrigin('127.0.0.1', 4000)).toBe('http://127.0.0.1:4000');
  });
});
