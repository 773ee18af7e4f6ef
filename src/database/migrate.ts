import { PGlite } from '@electric-sql/pglite';
import type { MikroORM } from '@mikro-orm/core';
import type { Pool } from 'pg';

/** Marks the advisory lock that a replica holds while it migrates; any number that nobody else uses. */
const MIGRATION_LOCK = 7_230_914_005;

/** How long a starting replica waits for another one's migrations. */
const MIGRATION_WAIT_MS = 10 * 60_000;

/**
 * Brings the database's tables up to this version. Replicas that start together do it one after
 * the other: the lock belongs to a connection of its own, so it ends with the process too. All
 * migrations that are missing run in one transaction. The embedded database has one process,
 * which holds its folder, so there is nothing to lock.
 */
export async function migrate(orm: MikroORM): Promise<void> {
  const client = (await orm.em.getDriver().getConnection().getNativeClient()) as Pool | PGlite;
  if (client instanceof PGlite) {
    await orm.migrator.up();
    return;
  }
  const holder = await client.connect();
  try {
    await holder.query(`set lock_timeout = ${MIGRATION_WAIT_MS}`);
    await holder.query(`set statement_timeout = ${MIGRATION_WAIT_MS}`);
    await holder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await orm.migrator.up();
    await holder.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  } finally {
    // The connection has time-outs of its own now; it is closed rather than handed to a request.
    holder.release(true);
  }
}
