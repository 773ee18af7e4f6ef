import { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { expect, vi } from 'vitest';

/**
 * Counts the statements that reach the database while `work` runs, at the drivers themselves,
 * without those that begin and end a transaction, that set up a new connection, that find out who
 * holds the key, and that the sequencer runs meanwhile, which is at work in every gateway.
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
  return texts.filter((text) => !NOT_THE_REQUEST.test(text)).length;
}

const NOT_THE_REQUEST =
  /^(begin|commit|rollback)|from api_key|set time zone|order by sequence|"isFilled"|pg_advisory_xact_lock|from forgotten_member|to_regclass|pg_inherits/;

type Query = (this: unknown, ...args: unknown[]) => unknown;
