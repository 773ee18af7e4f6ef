import { PGlite } from '@electric-sql/pglite';
import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import type { Pool } from 'pg';

/** Names of prepared statements by their text. The texts are the program's own, so there are few. */
const names = new Map<string, string>();

interface QueryOptions {
  /**
   * Whether the best plan depends on the values, so that the statement is planned each time.
   * False unless told: it is prepared once for each connection, and planned once.
   */
  isPlannedByValue?: boolean;
}

/**
 * Runs a reading statement on MikroORM's own connection, outside any transaction, and returns plain
 * rows; no entity is made. `text` is SQL with $1, $2, … for the values. Timestamps come as
 * PostgreSQL writes them (in UTC), bigints as strings.
 *
 * Never call it inside `write`: it would use another connection than the transaction, and on the
 * embedded database, which has one, wait for itself for ever. There, use `queryInside`.
 */
export async function query<Row>(
  em: EntityManager,
  text: string,
  values: unknown[],
  { isPlannedByValue = false }: QueryOptions = {},
): Promise<Row[]> {
  const client = (await em.getConnection().getNativeClient()) as Pool | PGlite;
  if (client instanceof PGlite) return (await client.query<Row>(text, values)).rows;
  const statement = isPlannedByValue ? { text, values } : { name: nameOf(text), text, values };
  return (await client.query(statement)).rows as Row[];
}

/** One name for one text: PostgreSQL refuses a name that stands for another text already. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `gateway_${names.size + 1}`;
  names.set(text, name);
  return name;
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
