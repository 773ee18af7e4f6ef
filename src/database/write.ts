import { setTimeout as sleep } from 'node:timers/promises';

import { DeadlockException, UniqueConstraintViolationException } from '@mikro-orm/core';
import { type EntityManager, raw } from '@mikro-orm/postgresql';

/** How often a transaction is tried that lost a deadlock or a race for its snapshot. */
const MAX_TRIES = 4;

/** PostgreSQL's codes for "nothing is wrong with it, run it again": serialization_failure, deadlock_detected. */
const RETRYABLE = new Set(['40001', '40P01']);

const UNIQUE_VIOLATION = '23505';

/** What each transaction that is under way wants done when it is committed. */
const commitHooks = new WeakMap<EntityManager, (() => void)[]>();

/**
 * Has `hook` called once the transaction of `tx` is committed, and not when it is rolled back; it
 * must not throw. A process that dies at that moment never calls it.
 */
export function afterCommit(tx: EntityManager, hook: () => void): void {
  const hooks = commitHooks.get(tx);
  if (!hooks)
    throw new Error('Only what runs inside of write or writeForBrand has a commit to wait for.');
  hooks.push(hook);
}

/**
 * Runs `work` in one transaction of its own on behalf of a brand: all of it is committed, or none.
 * Only `tx` may be used inside; it sees no record of another brand. A deadlock runs `work` again
 * from the start, up to 4 times in all, so it must do nothing outside the transaction.
 *
 * @throws whatever `work` throws, after rolling back.
 */
export async function writeForBrand<T>(
  em: EntityManager,
  brandId: string,
  work: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  return write(em, (tx) => {
    tx.setFilterParams('brand', { brandId });
    return work(tx);
  });
}

/** As `writeForBrand`, for what belongs to no brand: the platform's own records. */
export async function write<T>(
  em: EntityManager,
  work: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const hooks: (() => void)[] = [];
    try {
      const result = await em.fork().transactional((tx) => {
        commitHooks.set(tx, hooks);
        return work(tx);
      });
      for (const hook of hooks) hook();
      return result;
    } catch (error) {
      if (tries >= MAX_TRIES || !isRetryable(error)) throw error;
      await sleep(tries * 20 * (0.5 + Math.random()));
    }
  }
}

/** What a write had looked up was no longer so when it came to writing; `retryLostRace` runs it again. */
export class LostRaceError extends Error {
  override name = 'LostRaceError';
}

/**
 * Runs a whole write again, up to 4 times in all, that first looked for a record, found none, and
 * then lost the race to make it: the next look finds the winner's. The index decides, as it should;
 * looking first only tells what to do.
 */
export async function retryLostRace<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isLost = error instanceof LostRaceError || isUniqueViolation(error);
      if (tries >= MAX_TRIES || !isLost) throw error;
    }
  }
}

function isUniqueViolation(error: unknown): boolean {
  if (error instanceof UniqueConstraintViolationException) return true;
  return (error as { code?: unknown }).code === UNIQUE_VIOLATION;
}

function isRetryable(error: unknown): boolean {
  if (error instanceof DeadlockException) return true;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && RETRYABLE.has(code);
}

/**
 * What `updated_at` of an existing record becomes: now by the database's clock, after any wait for
 * its lock, and later than it was, whatever the clock does.
 */
export function laterInstant() {
  return raw("greatest(clock_timestamp(), updated_at + interval '1 millisecond')");
}
