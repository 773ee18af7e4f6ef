import { CompiledQuery, type DatabaseConnection, PostgresDriver } from 'kysely';

/**
 * Kysely gives the connection of a transaction back only after the rollback, or the begin, has
 * succeeded. On a connection that PostgreSQL has closed neither can: it was never given back, and
 * after ten of them, as in one restart of the server, the pool had none left for good. Here a
 * rollback that fails because the connection is dead is done with, since the server has rolled back
 * what it knew of, and a begin that fails gives its connection back itself. The pool then throws the
 * dead connection away. One that is alive after a failed rollback is never used again: its
 * transaction may still be open.
 *
 * Once for the process, since the driver is made deep inside of MikroORM.
 */
export function releaseDeadConnections(): void {
  const { beginTransaction, rollbackTransaction } = PostgresDriver.prototype;
  if (isPatched) return;
  isPatched = true;
  PostgresDriver.prototype.beginTransaction = async function begin(connection, settings) {
    try {
      await beginTransaction.call(this, connection, settings);
    } catch (error) {
      await release(this, connection);
      throw error;
    }
  };
  PostgresDriver.prototype.rollbackTransaction = async function rollback(connection) {
    try {
      await rollbackTransaction.call(this, connection);
    } catch (error) {
      if (await isAlive(connection)) throw error;
    }
  };
}

let isPatched = false;

async function isAlive(connection: DatabaseConnection): Promise<boolean> {
  try {
    await connection.executeQuery(CompiledQuery.raw('select 1'));
    return true;
  } catch (error) {
    // An aborted transaction refuses every statement, and is alive (25P02).
    return (error as { code?: unknown }).code === '25P02';
  }
}

async function release(driver: PostgresDriver, connection: DatabaseConnection): Promise<void> {
  await driver.releaseConnection(connection as Parameters<typeof driver.releaseConnection>[0]);
}
