import { PGlite } from '@electric-sql/pglite';
import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import type { Pool } from 'pg';

/**
 * A statement that is planned once for each connection. The name must be unique in the program and
 * stand for one text for ever: PostgreSQL refuses one name with two texts.
 */
export interface Statement {
  /** Left out where the best plan depends on the values; the statement is then planned each time. */
  name?: string;
  /** SQL with $1, $2, … for the values. */
  text: string;
}

/**
 * Runs a reading statement on MikroORM's own connection, outside any transaction, and returns plain
 * rows; no entity is made. Timestamps come as PostgreSQL writes them (in UTC), bigints as strings.
 *
 * Never call it inside `write`: it would use another connection than the transaction, and on the
 * embedded database, which has one, wait for itself for ever. There, use `queryInside`.
 */
export async function query<Row>(
  em: EntityManager,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> {
  const client = (await em.getConnection().getNativeClient()) as Pool | PGlite;
  const result =
    client instanceof PGlite
      ? await client.query(statement.text, values)
      : await client.query({ ...statement, values });
  return result.rows as Row[];
}

/** Runs a statement inside the transaction of `tx`, with its values bound, and returns plain rows. */
export async function queryInside<Row>(
  tx: EntityManager,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  const result = await tx.getKysely().executeQuery(CompiledQuery.raw(text, values));
  return result.rows as Row[];
}
