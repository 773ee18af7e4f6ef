import type { EntityManager } from '@mikro-orm/postgresql';

import { query, queryInside } from '../database/statements.ts';
import { write } from '../database/write.ts';

/** How many days ahead the log has partitions, so that midnight finds its own. */
const DAYS_AHEAD = 3;

/** Marks the advisory lock under which partitions are made and dropped; any number that nobody else uses. */
const PARTITION_LOCK = 7_230_914_007;

/** How long a partition's end waits for those who read the log, and makes others wait, at the most. */
const LOCK_TIMEOUT_MS = 2_000;

/** A day in UTC as it stands in the name of its partition: 20261121. */
const TODAY = "to_char(clock_timestamp() at time zone 'UTC', 'YYYYMMDD')";

/**
 * Makes the partitions of the log for today and the next three days where they are missing. Each
 * holds what enters the log on one day, by the database's clock in UTC. It is made apart and then
 * attached, which lets others read and write the log meanwhile.
 */
export async function makePartitions(em: EntityManager): Promise<void> {
  await write(em, async (tx) => {
    await queryInside(tx, 'select pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
    const days = await queryInside<{ name: string; day: string; next: string }>(
      tx,
      `select 'event_' || to_char(d, 'YYYYMMDD') as name, to_char(d, 'YYYY-MM-DD') as day,
              to_char(d + interval '1 day', 'YYYY-MM-DD') as next
       from generate_series(0, ${DAYS_AHEAD}) n,
         lateral (select date_trunc('day', clock_timestamp() at time zone 'UTC') + n * interval '1 day') as s (d)
       where to_regclass('event_' || to_char(d, 'YYYYMMDD')) is null`,
      [],
    );
    for (const { name, day, next } of days) {
      await queryInside(tx, `create table ${name} (like event)`, []);
      const range = `from ('${day} 00:00:00+00') to ('${next} 00:00:00+00')`;
      await queryInside(tx, `alter table event attach partition ${name} for values ${range}`, []);
    }
  });
}

/**
 * Drops the partitions whose every event entered the log more than `retentionDays` days ago, and
 * gives their names. No row is deleted: what goes are whole tables. It waits for readers for at
 * most 2 seconds and then throws; the next time it is tried again.
 */
export async function dropPartitions(em: EntityManager, retentionDays: number): Promise<string[]> {
  const dropped: string[] = [];
  for (const name of await findOldPartitions(em, retentionDays)) {
    await write(em, async (tx) => {
      await queryInside(tx, 'select pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
      await queryInside(tx, `set local lock_timeout = ${LOCK_TIMEOUT_MS}`, []);
      await queryInside(tx, `drop table if exists ${name}`, []);
    });
    dropped.push(name);
  }
  return dropped;
}

async function findOldPartitions(em: EntityManager, retentionDays: number): Promise<string[]> {
  // A day is over a day after it began: its last event is that much younger.
  const text = `
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'event'::regclass and c.relname ~ '^event_[0-9]{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') < to_date(${TODAY}, 'YYYYMMDD') - $1::int
    order by 1`;
  const rows = await query<{ name: string }>(em, text, [retentionDays]);
  return rows.map(({ name }) => name);
}
