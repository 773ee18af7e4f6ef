import type { EntityManager } from '@mikro-orm/postgresql';

import { queryInside } from './statements.ts';
import { writeForBrand } from './write.ts';

/** The last write of each brand that came to this process and is not done. */
const turns = new Map<string, Promise<unknown>>();

/**
 * As `writeForBrand`, for writes of many records: one of a brand at a time, whichever replica it
 * came to, since two that touch the same records in another order would deadlock. Nothing else
 * waits for its lock but a change of the brand itself. Within this process, those that wait do so
 * without a connection: a brand that sends many at once must not take them all.
 *
 * The work of a brand that does not exist runs too, and finds nothing.
 */
export async function writeInTurn<T>(
  em: EntityManager,
  brandId: string,
  work: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  const write = () =>
    writeForBrand(em, brandId, async (tx) => {
      await queryInside(tx, 'select 1 from brand where id = $1 for no key update', [brandId]);
      return work(tx);
    });
  const before = turns.get(brandId) ?? Promise.resolve();
  const mine = before.then(write, write);
  turns.set(brandId, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(brandId) === mine) turns.delete(brandId);
  }
}
