import { MikroORM } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

import { migrateEmbedded, migratePostgresql } from './migrate.ts';
import { type DatabaseLocation, ormOptions, UTC_SESSION } from './orm.ts';
import { query } from './statements.ts';

/** The oldest PostgreSQL that is tested, as `server_version_num` writes it. */
const OLDEST_VERSION = 150_000;

/** The database cannot be used; the message says which and why, without its password. */
export class DatabaseError extends Error {
  override name = 'DatabaseError';
}

/** An open, migrated database. */
export interface Database {
  /** For reading, and to fork from; writing goes through `write` and `writeForBrand`. */
  em: EntityManager;
  /** Closes every connection; the embedded database is shut down cleanly. */
  close(): Promise<void>;
}

/**
 * Connects, checks the server's version and migrates.
 *
 * @throws {DatabaseError} when it cannot be reached, is too old, or a migration fails.
 */
export async function openDatabase(location: DatabaseLocation): Promise<Database> {
  const place = describeLocation(location);
  let orm: MikroORM | undefined;
  try {
    orm = await MikroORM.init(ormOptions(location));
    const em = orm.em as EntityManager;
    if (location.kind === 'embedded') {
      await query(em, UTC_SESSION, []);
      await migrateEmbedded(orm);
    } else {
      await checkVersion(em);
      await migratePostgresql(location);
    }
    const opened = orm;
    return { em, close: () => opened.close(true) };
  } catch (error) {
    await orm?.close(true).catch(() => {});
    throw new DatabaseError(`The database at ${place} cannot be used: ${describe(error)}`, {
      cause: error,
    });
  }
}

async function checkVersion(em: EntityManager): Promise<void> {
  const [row] = await query<{ number: number; name: string }>(
    em,
    `select current_setting('server_version_num')::int as number,
                    current_setting('server_version') as name`,
    [],
  );
  if (row && row.number < OLDEST_VERSION) {
    throw new DatabaseError(`PostgreSQL 15 or newer is needed, and this is ${row.name}`);
  }
}

function describeLocation(location: DatabaseLocation): string {
  if (location.kind === 'embedded') return location.dataDir;
  const url = new URL(location.url);
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** The message alone; connecting to a name with several addresses fails with a message for each. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ');
  return error instanceof Error ? error.message : String(error);
}
