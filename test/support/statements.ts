import { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { expect, vi } from 'vitest';

/**
 * Counts the statements that reach the database while `work` runs, at the drivers themselves, and
 * without the ones that set up a new connection and that find out who holds the key.
 */
export async function countStatements(work: () => Promise<{ errors?: unknown }>): Promise<number> {
  const texts: string[] = [];
  const drivers = [Client.prototype, PGlite.prototype] as unknown as { query: Query }[];
  const spies = drivers.map((driver) => {
    const { query } = driver;
    return vi.spyOn(driver, 'query').mockImplementation(function record(this: unknown, ...args) {
      const [statement] = args as [string | { text: string }];
      texts.push(typeof statement === 'string' ? statement : statement.text);
      return query.apply(this, args);
    });
  });
  try {
    expect((await work()).errors).toBeUndefined();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  const isOfTheRequest = (text: string) => !/from api_key|set time zone/.test(text);
  return texts.filter(isOfTheRequest).length;
}

type Query = (this: unknown, ...args: unknown[]) => unknown;
