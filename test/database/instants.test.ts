import { describe, expect, it } from 'vitest';

import { formatInstant, parseInstant } from '../../src/database/instants.ts';

describe('formatInstant', () => {
  it.each([
    ['2026-11-20 09:54:00.123+00', '2026-11-20T09:54:00.123Z'],
    ['2026-11-20 09:54:00.12+00', '2026-11-20T09:54:00.120Z'],
    ['2026-11-20 09:54:00.1+00', '2026-11-20T09:54:00.100Z'],
    ['2026-11-20 09:54:00+00', '2026-11-20T09:54:00.000Z'],
  ])('writes %s as %s', (text, instant) => {
    expect(formatInstant(text)).toBe(instant);
  });

  it('throws on what is not of a UTC session rather than writing a wrong time', () => {
    expect(() => formatInstant('2026-11-20 09:54:00-05')).toThrow('UTC session');
    expect(() => formatInstant('infinity')).toThrow('UTC session');
  });
});

describe('parseInstant', () => {
  it.each([
    ['2026-11-20T09:54:00.123Z', '2026-11-20T09:54:00.123Z'],
    ['2026-11-20T09:54:00Z', '2026-11-20T09:54:00.000Z'],
    ['2026-11-20t09:54:00.5z', '2026-11-20T09:54:00.500Z'],
    ['2026-11-20T09:54:00.123999+00:00', '2026-11-20T09:54:00.123Z'],
    ['2026-11-20T01:30:00+05:45', '2026-11-19T19:45:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('reads %s as %s', (text, instant) => {
    expect(parseInstant(text)).toBe(instant);
  });

  it.each([
    '2026-11-20',
    '2026-11-20T09:54:00',
    '2026-11-20 09:54:00Z',
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T23:59:60Z',
    '2026-11-20T09:54:00+25:00',
    '9999-12-31T23:59:59-12:00',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+12:00',
    '12026-11-20T09:54:00Z',
    'now',
    '',
  ])('refuses %s', (text) => {
    expect(parseInstant(text)).toBeNull();
  });
});
