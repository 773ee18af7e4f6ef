import type { EntityManager } from '@mikro-orm/postgresql';

import { newId } from '../database/ids.ts';
import { queryInside } from '../database/statements.ts';

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
interface EventData {
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
}

/** An event without the personal data of its member. */
export function withoutPersonalData(event: NewEvent): NewEvent {
  const user = toEventUser(event.data.userId, null);
  if (event.type !== 'user.joined') return { ...event, data: { ...event.data, user } } as NewEvent;
  return { ...event, data: { ...event.data, user, email: null, phoneNumber: null } };
}

/**
 * Takes the personal data of members out of what is recorded of them, inside the transaction of
 * `tx`: the same as `withoutPersonalData`. The events stay.
 */
export async function forgetMembers(
  tx: EntityManager,
  brandId: string,
  memberIds: readonly string[],
): Promise<void> {
  await queryInside(
    tx,
    `update outbox set data = data
       || case when type = 'user.joined' then '{"email": null, "phoneNumber": null}'::jsonb else '{}'::jsonb end
       || jsonb_build_object('user', jsonb_build_object('id', user_id, 'customAuthSub', null, 'email', null))
     where brand_id = $1 and user_id = any ($2::uuid[])`,
    [brandId, memberIds],
  );
}
