import type { Options } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { PgliteDriver } from '@mikro-orm/pglite';
import { PostgreSqlDriver } from '@mikro-orm/postgresql';
import type { PoolConfig } from 'pg';

import { ApiKey } from '../api-keys/entity.ts';
import { Brand } from '../brands/entity.ts';
import { MemberGroup } from '../groups/entity.ts';
import { MagicLink } from '../magic-links/entity.ts';
import { Member } from '../members/entity.ts';
import { Post } from '../posts/entity.ts';
import { Product, ProductVariant } from '../products/entity.ts';
import { CatalogueMigration } from './migrations/001-catalogue.ts';
import { CommunityMigration } from './migrations/002-community.ts';
import { EventLogMigration } from './migrations/003-event-log.ts';
import { releaseDeadConnections } from './pool.ts';

releaseDeadConnections();

/** Where the records are: a folder for PGlite, or a PostgreSQL server. */
export type DatabaseLocation =
  | { kind: 'embedded'; dataDir: string }
  | { kind: 'postgresql'; url: string };

/** Connections to PostgreSQL that one process opens at the most. */
const POOL_SIZE = 10;

/** What a request waits at the most for a connection, for a lock, and for one statement. */
const CONNECT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 30_000;

/** Rows carry timestamps as text, which the interface writes in UTC. */
export const UTC_SESSION = "set time zone 'UTC'";

/** A migration may build an index on a big table, and one replica waits for another's. */
const MIGRATION_TIMEOUT_MS = 30 * 60_000;

/** What the connections are for, which decides how long their statements may take. */
type Purpose = 'serving' | 'migrating';

function sessionSettings(purpose: Purpose): string {
  const isServing = purpose === 'serving';
  return [
    UTC_SESSION,
    `set lock_timeout = ${isServing ? LOCK_TIMEOUT_MS : MIGRATION_TIMEOUT_MS}`,
    `set statement_timeout = ${isServing ? STATEMENT_TIMEOUT_MS : MIGRATION_TIMEOUT_MS}`,
    `set idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_TIMEOUT_MS}`,
  ].join('; ');
}

/** MikroORM's configuration: the same entities and migrations on both kinds of database. */
export function ormOptions(
  location: DatabaseLocation,
  purpose: Purpose = 'serving',
): Partial<Options> {
  return {
    entities: [Brand, ApiKey, Product, ProductVariant, Member, MemberGroup, Post, MagicLink],
    extensions: [Migrator],
    autoJoinRefsForFilters: false,
    filtersOnRelations: false,
    debug: false,
    forceUtcTimezone: true,
    migrations: {
      migrationsList: [
        { name: '001-catalogue', class: CatalogueMigration },
        { name: '002-community', class: CommunityMigration },
        { name: '003-event-log', class: EventLogMigration },
      ],
      snapshot: false,
      silent: true,
    },
    schemaGenerator: { skipTables: ['mikro_orm_migrations'] },
    ...driverOptions(location, purpose),
  };
}

function driverOptions(location: DatabaseLocation, purpose: Purpose): Partial<Options> {
  if (location.kind === 'embedded') {
    return { driver: PgliteDriver, dbName: location.dataDir };
  }
  return {
    driver: PostgreSqlDriver,
    clientUrl: location.url,
    driverOptions: {
      // Once more for pg itself: it understands ?sslmode=… and the like, which MikroORM drops.
      connectionString: location.url,
      application_name: 'community-gateway',
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      // Runs once for each new connection, before anybody gets it, whoever asks for it. The pool
      // awaits it, which its type does not say.
      // oxlint-disable-next-line typescript/no-misused-promises
      onConnect: async (client) => {
        await client.query(sessionSettings(purpose));
      },
    } satisfies PoolConfig,
  };
}
