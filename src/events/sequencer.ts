import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';

import { query, queryInside } from '../database/statements.ts';
import { write } from '../database/write.ts';
import { openMissingLogs } from './log.ts';
import { IMPERSONAL_DATA, MEMBER_FORGOTTEN, onRecorded } from './outbox.ts';
import { dropPartitions, makePartitions } from './partitions.ts';

/** Marks the advisory lock of the one sequencer that is at work; any number that nobody else uses. */
const SEQUENCER_LOCK = 7_230_914_006;

/** How many rows one transaction moves at the most, and of how many events it forgets a member. */
const BATCH = 1_000;
const FORGET_BATCH = 5_000;

/** How long a row waits at the most that nobody has told of, as when a process died. */
const POLL_MS = 1_000;

/** How often partitions are made and dropped. */
const MAINTENANCE_MS = 60 * 60_000;
const MAINTENANCE_RETRY_MS = 60_000;

/** Told to other processes, without payload, once a batch. */
const EVENTS_CHANNEL = 'gateway_events';

/**
 * Moves what is committed from the outbox into the log, one batch, and gives how many rows it was.
 * Each event gets the next position of its brand: dense, without gaps, and in causal order, since
 * the outbox numbers rows as they are written, and whoever could know of an event writes later. A
 * row whose transaction is still open is not seen, holds nobody up, and gets its position when it
 * is committed.
 *
 * The lock is taken by a statement of its own: the next one then sees all that the last holder has
 * left. It ends with the transaction, whatever becomes of this process.
 */
export async function sequenceBatch(em: EntityManager): Promise<number> {
  return write(em, async (tx) => {
    await queryInside(tx, 'select pg_advisory_xact_lock($1)', [SEQUENCER_LOCK]);
    const [moved] = await queryInside<{ count: number }>(tx, MOVE, []);
    return moved?.count ?? 0;
  });
}

/** The counters are read as they were before this statement: `last_position` is the batch's base. */
const MOVE = `
  with batch as materialized (
    delete from outbox where sequence in (
      select sequence from outbox where brand_id in (select brand_id from event_log)
      order by sequence limit ${BATCH})
    returning *
  ), numbered as (
    select b.*, l.last_position + count(*) filter (where b.type <> '${MEMBER_FORGOTTEN}')
      over (partition by b.brand_id order by b.sequence) as position
    from batch b join event_log l using (brand_id)
  ), heads as (
    update event_log l set last_position = n.position
    from (select brand_id, max(position) as position from numbered group by brand_id) n
    where l.brand_id = n.brand_id and l.last_position < n.position
  ), logged as (
    insert into event (brand_id, position, id, type, occurred_at, logged_at, user_id, room_id, data)
    select brand_id, position, event_id, type, occurred_at, clock_timestamp(), user_id, room_id, data
    from numbered where type <> '${MEMBER_FORGOTTEN}' order by sequence
  ), forgotten as (
    insert into forgotten_member (brand_id, user_id, until_position)
    select brand_id, user_id, max(position) from numbered where type = '${MEMBER_FORGOTTEN}'
    group by brand_id, user_id
    on conflict (brand_id, user_id) do update set until_position = excluded.until_position
  )
  select count(*)::int as count, pg_notify('${EVENTS_CHANNEL}', '') from batch having count(*) > 0`;

/**
 * Makes the next 5,000 events of a member who is to be forgotten impersonal, and gives whether there
 * may be more to do.
 */
export async function forgetBatch(em: EntityManager): Promise<boolean> {
  return write(em, async (tx) => {
    const [member] = await queryInside<{ brandId: string; userId: string; until: string }>(
      tx,
      `select brand_id as "brandId", user_id as "userId", until_position::text as until
       from forgotten_member limit 1 for update skip locked`,
      [],
    );
    if (!member) return false;
    const { brandId, userId, until } = member;
    const values = [brandId, userId, until];
    // How far it goes this time, in a statement of its own: joined with itself, and without
    // statistics, PostgreSQL would compare every event with every other.
    const [batch] = await queryInside<{ count: number; end: string | null }>(
      tx,
      `select count(*)::int as count, max(position)::text as end from (
         select position from event where ${PERSONAL} order by position limit ${FORGET_BATCH}) b`,
      values,
    );
    if (batch?.end) {
      const text = `update event set data = ${IMPERSONAL_DATA} where ${PERSONAL}`;
      await queryInside(tx, text, [brandId, userId, batch.end]);
    }
    if ((batch?.count ?? 0) < FORGET_BATCH) {
      const text = 'delete from forgotten_member where brand_id = $1 and user_id = $2';
      await queryInside(tx, text, [brandId, userId]);
    }
    return true;
  });
}

/** The events of a member up to a position that still hold something personal. */
const PERSONAL = `brand_id = $1 and user_id = $2 and position <= $3
  and (data #> '{user,email}' <> 'null' or data #> '{user,customAuthSub}' <> 'null'
    or data -> 'phoneNumber' <> 'null')`;

/** A sequencer at work. */
export interface Sequencer {
  /** Lets it finish the batch that it is at, and ends it. */
  close(): Promise<void>;
}

interface SequencerOptions {
  em: EntityManager;
  log: Logger;
  /** For how many days an event is kept after it entered the log. */
  retentionDays: number;
}

/**
 * Starts sequencing: at once whenever this process has committed something, and every second in
 * case that another one could not tell. Any number of processes may run one; they take turns. It
 * also makes and drops the log's partitions, and opens logs that are missing, at the start and every
 * hour. What fails is logged and
 * tried again.
 *
 * @throws when the first partitions cannot be made.
 */
export async function startSequencer({
  em,
  log,
  retentionDays,
}: SequencerOptions): Promise<Sequencer> {
  const stopped = new AbortController();
  const alarm = new Alarm();
  onRecorded(em, () => alarm.ring());
  await makePartitions(em);

  let maintainAt = 0;
  const maintain = async () => {
    if (performance.now() < maintainAt) return;
    maintainAt = performance.now() + MAINTENANCE_MS;
    try {
      await makePartitions(em);
      await openMissingLogs(em);
      const dropped = await dropPartitions(em, retentionDays);
      if (dropped.length > 0) log.info({ partitions: dropped }, 'dropped old events');
    } catch (error) {
      maintainAt = performance.now() + MAINTENANCE_RETRY_MS;
      log.warn(
        { err: error },
        'the partitions of the log could not be maintained; it is tried again',
      );
    }
  };
  const run = async () => {
    while (!stopped.signal.aborted) {
      try {
        await maintain();
        await drainOutbox(em, stopped.signal);
      } catch (error) {
        log.error({ err: error }, 'sequencing failed; it is tried again');
        // A partition may be what was missing, as after a night's sleep of the machine.
        maintainAt = 0;
      }
      await alarm.wait(POLL_MS, stopped.signal);
    }
  };
  const running = run();
  return {
    close: async () => {
      stopped.abort();
      await running;
    },
  };
}

/** Moves all that there is. */
async function drainOutbox(em: EntityManager, signal: AbortSignal): Promise<void> {
  const text = `select exists (select 1 from outbox) as "isFilled",
    exists (select 1 from forgotten_member) as "isForgetting"`;
  const [state] = await query<{ isFilled: boolean; isForgetting: boolean }>(em, text, []);
  if (state?.isFilled) while (!signal.aborted && (await sequenceBatch(em)) === BATCH);
  if (state?.isFilled || state?.isForgetting) while (!signal.aborted && (await forgetBatch(em)));
}

/** Ends a wait, or the next one when nobody is waiting. */
class Alarm {
  #isRung = false;
  #end: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#end?.();
  }

  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#isRung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener('abort', this.#end, { once: true });
      });
      if (this.#end) signal.removeEventListener('abort', this.#end);
      this.#end = undefined;
    }
    this.#isRung = false;
  }
}
