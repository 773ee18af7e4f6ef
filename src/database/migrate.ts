import { MikroORM } from '@mikro-orm/core';
import type { Pool } from 'pg';

import { type DatabaseLocation, ormOptions } from './orm.ts';

/** Marks the advisory lock that a replica holds while it migrates; any number that nobody else uses. */
const MIGRATION_LOCK = 7_230_914_005;

/**
 * Brings the embedded database's tables up to this version. It has one process, which holds its
 * folder, so there is nothing to lock.
 */
export async function migrateEmbedded(orm: MikroORM): Promise<void> {
  await orm.migrator.up();
}

/**
 * Brings a PostgreSQL database's tables up to this version, on connections of its own, which may
 * take longer than a request's. Replicas that start together do it one after the other: the lock
 * belongs to a connection, so it ends with the process too. All migrations that are missing run in
 * one transaction.
 */
export async function migratePostgresql(location: DatabaseLocation): Promise<void> {
  const orm = await MikroORM.init(ormOptions(location, 'migrating'));
  try {
    const pool = (await orm.em.getDriver().getConnection().getNativeClient()) as Pool;
    const holder = await pool.connect();
    try {
      await holder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await orm.migrator.up();
    } finally {
      // Closing the connection gives the lock up.
      holder.release(true);
    }
  } finally {
    await orm.close(true);
  }
}
