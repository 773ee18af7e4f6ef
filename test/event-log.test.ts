import { randomUUID } from 'node:crypto';

import type { EntityManager } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';

import { query, queryInside } from '../src/database/statements.ts';
import { writeForBrand } from '../src/database/write.ts';
import { CursorExpiredError } from '../src/errors.ts';
import { readEndCursor, readLog } from '../src/events/log.ts';
import { type NewEvent, recordEvents } from '../src/events/outbox.ts';
import { dropPartitions, makePartitions } from '../src/events/partitions.ts';
import { forgetBatch, sequenceBatch, startSequencer } from '../src/events/sequencer.ts';
import { recordActivity } from '../src/platform/activity.ts';
import { createBrandWithKey } from '../src/platform/service.ts';
import { activity } from './support/community.ts';
import { openTestOrm } from './support/orm.ts';

let database: Awaited<ReturnType<typeof openTestOrm>>;
let em: EntityManager;
let brandId: string;

beforeAll(async () => {
  database = await openTestOrm();
  ({ em } = database);
  await makePartitions(em);
});
beforeEach(async () => {
  brandId = (await createBrandWithKey(em, { name: 'B', communityUrl: 'https://c.example' })).brand
    .id;
});
afterAll(() => database?.close());

const isPostgresql = inject('database').kind === 'postgresql';

/** A like, told apart by its post. */
function like(postId: string = randomUUID(), userId: string = randomUUID()): NewEvent {
  const user = { id: userId, customAuthSub: 'sub', email: 'a@example.com' };
  return {
    type: 'post.liked',
    occurredAt: '2026-11-01T10:00:00.000Z',
    data: { postId, userId, user },
  };
}

const record = (...events: NewEvent[]) =>
  writeForBrand(em, brandId, (tx) => recordEvents(tx, brandId, events));

interface Logged {
  position: number;
  data: { postId: string; user: { email: string | null } };
}

const readAll = (of = brandId): Promise<Logged[]> =>
  query(
    em,
    'select position::int as position, data from event where brand_id = $1 order by position',
    [of],
  );

const readPage = (after: string | null) =>
  readLog(em, brandId, { after, before: null, size: 100, isBackward: false, types: [] });

describe('the sequencer', () => {
  it('gives every event the next position of its brand, whatever other brands do', async () => {
    const other = (await createBrandWithKey(em, { name: 'O', communityUrl: 'https://c.example' }))
      .brand.id;
    const posts: string[] = [];
    for (let round = 0; round < 5; round++) {
      const events = Array.from({ length: 3 }, () => like());
      posts.push(...events.map(({ data }) => (data as { postId: string }).postId));
      await record(...events);
      await writeForBrand(em, other, (tx) => recordEvents(tx, other, [like()]));
      if (round % 2) await sequenceBatch(em);
    }
    await sequenceBatch(em);
    expect(await sequenceBatch(em)).toBe(0);
    const logged = await readAll();
    expect(logged.map(({ position }) => position)).toEqual(
      Array.from({ length: 15 }, (_, n) => n + 1),
    );
    expect(logged.map(({ data }) => data.postId)).toEqual(posts);
    expect((await readAll(other)).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
  });

  it('moves more than a batch, and nothing of what was rolled back', async () => {
    await record(...Array.from({ length: 2_500 }, () => like()));
    await expect(
      writeForBrand(em, brandId, async (tx) => {
        await recordEvents(tx, brandId, [like()]);
        throw new Error('No.');
      }),
    ).rejects.toThrow('No.');
    const counts: number[] = [];
    for (let count = 1; count > 0;) counts.push((count = await sequenceBatch(em)));
    expect(counts).toEqual([1_000, 1_000, 500, 0]);
    const positions = (await readAll()).map(({ position }) => position);
    expect(positions).toEqual(Array.from({ length: 2_500 }, (_, n) => n + 1));
  });

  it.runIf(isPostgresql)(
    'waits for nobody whose transaction is open, and takes it in when it ends',
    async () => {
      const postOf = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
      let end = () => {};
      const isOver = new Promise<void>((resolve) => (end = resolve));
      const started = Promise.withResolvers<void>();
      const long = writeForBrand(em, brandId, async (tx) => {
        await recordEvents(tx, brandId, [like(postOf(1))]);
        started.resolve();
        await isOver;
      });
      await started.promise;
      await record(like(postOf(2)));
      await sequenceBatch(em);
      expect((await readAll()).map(({ data }) => data.postId)).toEqual([postOf(2)]);
      end();
      await long;
      await record(like(postOf(3)));
      await sequenceBatch(em);
      const logged = await readAll();
      expect(logged.map(({ data }) => data.postId)).toEqual([postOf(2), postOf(1), postOf(3)]);
      expect(logged.map(({ position }) => position)).toEqual([1, 2, 3]);
    },
  );

  it.runIf(isPostgresql)(
    'loses and repeats nothing, and keeps causes ahead of effects, among many writers and killed backends',
    async () => {
      const log = pino({ level: 'silent' });
      const options = { em, log, retentionDays: 30 };
      const sequencers = await Promise.all([1, 2, 3].map(() => startSequencer(options)));
      const committed: string[] = [];
      const causes = new Map<string, string>();
      const endsAt = performance.now() + 4_000;
      const writer = async (n: number) => {
        while (performance.now() < endsAt) {
          const known = committed.at(-1);
          const events = [like(), like()];
          const posts = events.map(({ data }) => (data as { postId: string }).postId);
          try {
            await writeForBrand(em, brandId, async (tx) => {
              await recordEvents(tx, brandId, events);
              if (n === 0) await queryInside(tx, 'select pg_sleep(1)', []);
              if (Math.random() < 0.2) throw new Error('rolled back');
            });
            for (const post of posts) if (known) causes.set(post, known);
            committed.push(...posts);
          } catch (error) {
            // One that was killed as it committed may be there or not: its events are left out.
            if (!(error instanceof Error && error.message === 'rolled back')) unsure.push(...posts);
          }
        }
      };
      const unsure: string[] = [];
      const killer = async () => {
        const client = new Client({ connectionString: database.url });
        await client.connect();
        while (performance.now() < endsAt) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and query like '%outbox%'
          order by random() limit 1`);
        }
        await client.end();
      };
      await Promise.all([killer(), ...Array.from({ length: 16 }, (_, n) => writer(n))]);
      await vi.waitFor(async () => {
        const [row] = await query<{ count: number }>(
          em,
          'select count(*)::int as count from outbox',
          [],
        );
        expect(row!.count).toBe(0);
      }, 10_000);
      await Promise.all(sequencers.map((sequencer) => sequencer.close()));
      const logged = await readAll();
      expect(logged.map(({ position }) => position)).toEqual(logged.map((_, n) => n + 1));
      const posts = logged.map(({ data }) => data.postId);
      expect(new Set(posts).size).toBe(posts.length);
      const certain = posts.filter((post) => !unsure.includes(post));
      expect(new Set(certain)).toEqual(new Set(committed));
      expect(committed.length).toBeGreaterThan(100);
      const places = new Map(posts.map((post, place) => [post, place]));
      for (const [effect, cause] of causes) {
        expect(places.get(cause)!).toBeLessThan(places.get(effect)!);
      }
    },
  );

  it('leaves the events of a brand without a log in the outbox, until it has opened one', async () => {
    await em.execute(`delete from event_log where brand_id = '${brandId}'`);
    await record(like(), like());
    await sequenceBatch(em);
    expect(await readAll()).toEqual([]);
    const sequencer = await startSequencer({
      em,
      log: pino({ level: 'silent' }),
      retentionDays: 30,
    });
    await vi.waitFor(async () => expect(await readAll()).toHaveLength(2), 10_000);
    await sequencer.close();
  });

  it('starts at once when this process records something', async () => {
    const sequencer = await startSequencer({
      em,
      log: pino({ level: 'silent' }),
      retentionDays: 30,
    });
    const waits: number[] = [];
    for (let round = 1; round <= 10; round++) {
      await record(like());
      const startedAt = performance.now();
      await vi.waitFor(async () => expect(await readAll()).toHaveLength(round), {
        timeout: 5_000,
        interval: 5,
      });
      waits.push(performance.now() - startedAt);
    }
    await sequencer.close();
    // Without being told it would look once a second.
    expect(waits.toSorted((a, b) => a - b)[5]).toBeLessThan(500);
  });

  it('forgets a member of all that stands before in the log, however much, and of nothing behind', async () => {
    const userId = randomUUID();
    await recordActivity(em, {
      brandId,
      activities: [
        activity({
          memberJoined: { id: userId, username: 'ada', email: 'a@example.com' },
        }),
      ],
    });
    await record(...Array.from({ length: 12_000 }, () => like(undefined, userId)), like());
    while ((await sequenceBatch(em)) > 0);
    await record(like(undefined, userId));
    await recordActivity(em, {
      brandId,
      activities: [activity({ memberDeleted: { id: userId } })],
    });
    const personal = async () => (await readAll()).filter(({ data }) => data.user.email).length;
    // The latest 10,000 of the log with the deletion itself, the others when the sequencer comes by.
    expect(await personal()).toBe(2_001 + 1);
    await record(like(undefined, userId));
    while ((await sequenceBatch(em)) > 0);
    while (await forgetBatch(em));
    const logged = await readAll();
    const whose = logged.filter(({ data }) => data.user.email);
    expect(whose.map(({ position }) => position)).toEqual([12_002, 12_004]);
    expect(logged).toHaveLength(12_004);
  });
});

describe('the partitions of the log', () => {
  const list = async () =>
    (
      await query<{ name: string }>(
        em,
        "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'event'::regclass order by 1",
        [],
      )
    ).map(({ name }) => name);

  it('are made for today and the next days, as often as one likes', async () => {
    await Promise.all([makePartitions(em), makePartitions(em)]);
    const names = await list();
    expect(names).toHaveLength(4);
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    expect(names[0]).toBe(`event_${today}`);
  });

  it('are dropped when they are older than is kept; cursors from before then say so', async () => {
    const start = await readEndCursor(em, brandId);
    await record(like(), like());
    await sequenceBatch(em);
    const [old] = (await readPage(null)).events;
    // As if they had entered the log 40 days ago.
    const day = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10);
    const name = `event_${day.replaceAll('-', '')}`;
    const next = new Date(Date.now() - 39 * 86_400_000).toISOString().slice(0, 10);
    await em.execute(
      `create table ${name} partition of event for values from ('${day} 00:00+00') to ('${next} 00:00+00')`,
    );
    await em.execute(
      `update event set logged_at = '${day} 12:00+00' where brand_id = '${brandId}'`,
    );
    await record(like(), like());
    await sequenceBatch(em);
    const { events } = await readPage(null);
    expect(events.map(({ position }) => position)).toEqual([1, 2, 3, 4]);

    expect(await dropPartitions(em, 40)).toEqual([]);
    expect(await dropPartitions(em, 39)).toEqual([name]);
    expect(await list()).not.toContain(name);
    expect((await readPage(null)).events.map(({ position }) => position)).toEqual([3, 4]);
    for (const cursor of [start, old!.cursor]) {
      const error = await readPage(cursor).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CursorExpiredError);
      const { oldestCursor } = error as CursorExpiredError;
      expect(oldestCursor).toBe(events[1]!.cursor);
      expect((await readPage(oldestCursor)).events).toEqual(events.slice(2));
    }
    expect((await readPage(events[2]!.cursor)).events).toEqual(events.slice(3));
  });
});
