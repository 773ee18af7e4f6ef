import type { EntityManager } from '@mikro-orm/postgresql';

import { newId } from '../database/ids.ts';
import { queryInside } from '../database/statements.ts';
import { afterCommit } from '../database/write.ts';

/** The member behind an event, as events carry them: as they were then, null where unknown. */
interface EventUser {
  id: string;
  customAuthSub: string | null;
  email: string | null;
}

/** What every event of a member carries. */
interface UserData {
  userId: string;
  user: EventUser;
}

/** What each type of event carries, under the names of the wire. */
export interface EventData {
  'user.joined': UserData & { email: string | null; phoneNumber: string | null };
  'post.created': UserData & { postId: string; title: string };
  'post.liked': UserData & { postId: string };
  'post_comment.created': UserData & {
    postId: string;
    postTitle: string;
    postCommentId: string;
    plainTextContent: string;
  };
  'post_comment.liked': UserData & { postId: string; postTitle: string; postCommentId: string };
}

/** The types of events, under the names of the wire: the one list of them. */
export const EVENT_TYPES = [
  'user.joined',
  'post.created',
  'post.liked',
  'post_comment.created',
  'post_comment.liked',
] as const satisfies readonly (keyof EventData)[];

export type EventType = keyof EventData;

/**
 * Stands in the outbox for no event, but for a member of whom the events before it may hold nothing
 * personal any more.
 */
export const MEMBER_FORGOTTEN = 'member.forgotten';

/** Something that happened, to be recorded. */
export type NewEvent = {
  [Type in keyof EventData]: {
    type: Type;
    /** ISO 8601. When it happened, which may be long before it is recorded. */
    occurredAt: string;
    data: EventData[Type];
    /** The room of the post that was created; by it the event can be asked for. */
    roomId?: Type extends 'post.created' ? string : never;
  };
}[keyof EventData];

/** What events say of a member; of one who is not known (any more), only the id. */
export function toEventUser(
  id: string,
  member: Omit<EventUser, 'id'> | null | undefined,
): EventUser {
  return { id, customAuthSub: member?.customAuthSub ?? null, email: member?.email ?? null };
}

/**
 * Records events in the order given, inside the transaction of `tx`, which makes what they tell of:
 * either both are there afterwards, or neither. Nothing else publishes.
 */
export async function recordEvents(
  tx: EntityManager,
  brandId: string,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({ ...event, id: newId() }));
  await queryInside(
    tx,
    `insert into outbox (event_id, brand_id, type, occurred_at, user_id, room_id, data)
     select (e.event ->> 'id')::uuid, $1, e.event ->> 'type', (e.event ->> 'occurredAt')::timestamptz,
            (e.event -> 'data' ->> 'userId')::uuid, (e.event ->> 'roomId')::uuid, e.event -> 'data'
     from jsonb_array_elements($2::jsonb) with ordinality as e (event, place) order by e.place`,
    [brandId, JSON.stringify(rows)],
  );
  wakeAfterCommit(tx);
}

/** An event without the personal data of its member. */
export function withoutPersonalData(event: NewEvent): NewEvent {
  const user = toEventUser(event.data.userId, null);
  if (event.type !== 'user.joined') return { ...event, data: { ...event.data, user } } as NewEvent;
  return { ...event, data: { ...event.data, user, email: null, phoneNumber: null } };
}

/** How many events of a member are made impersonal at once, with the member's deletion. */
const FORGOTTEN_AT_ONCE = 10_000;

/** SQL for an event's data without the personal data of its member; as `withoutPersonalData`. */
export const IMPERSONAL_DATA = `data
  || case when type = 'user.joined' then '{"email": null, "phoneNumber": null}'::jsonb else '{}'::jsonb end
  || jsonb_build_object('user', jsonb_build_object('id', user_id, 'customAuthSub', null, 'email', null))`;

/**
 * Takes the personal data of members out of what is recorded of them, inside the transaction of
 * `tx`: the same as `withoutPersonalData`. The events stay. In the log it is done with the
 * transaction, for each member's latest 10,000 events; for the rest, and for what is still in the
 * outbox, the sequencer does it when it comes by the row that is left for it here.
 */
export async function forgetMembers(
  tx: EntityManager,
  brandId: string,
  memberIds: readonly string[],
): Promise<void> {
  await queryInside(
    tx,
    `update event set data = ${IMPERSONAL_DATA}
     from (select m.id, (select position from event where brand_id = $1 and user_id = m.id
             order by position desc offset ${FORGOTTEN_AT_ONCE} limit 1) as start
           from unnest($2::uuid[]) as m (id)) as f
     where brand_id = $1 and user_id = f.id and position > coalesce(f.start, 0)`,
    [brandId, memberIds],
  );
  await queryInside(
    tx,
    `insert into outbox (event_id, brand_id, type, occurred_at, user_id, data)
     select gen_random_uuid(), $1, '${MEMBER_FORGOTTEN}', clock_timestamp(), id, '{}'
     from unnest($2::uuid[]) as m (id)`,
    [brandId, memberIds],
  );
  wakeAfterCommit(tx);
}

/** Who is told, by the driver of the database, that something new is in the outbox. */
const wakers = new WeakMap<object, () => void>();

/**
 * Has `wake` called whenever this process has committed something to the outbox of a database. What
 * other processes commit is theirs to tell of. One at a time for each database.
 */
export function onRecorded(em: EntityManager, wake: () => void): void {
  wakers.set(em.getDriver(), wake);
}

function wakeAfterCommit(tx: EntityManager): void {
  afterCommit(tx, () => wakers.get(tx.getDriver())?.());
}
