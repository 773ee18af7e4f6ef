import { randomUUID } from 'node:crypto';

import type { EntityManager } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { RefusedError } from '../src/errors.ts';
import { MEMBER_FORGOTTEN } from '../src/events/outbox.ts';
import { createMagicLink } from '../src/magic-links/service.ts';
import { RECORD_TABLES, recordActivity } from '../src/platform/activity.ts';
import type { Activity } from '../src/platform/community.ts';
import { createBrandWithKey } from '../src/platform/service.ts';
import { activity, memberInput, postInput } from './support/community.ts';
import { openTestOrm } from './support/orm.ts';

let database: Awaited<ReturnType<typeof openTestOrm>>;
let em: EntityManager;
let brandId: string;

beforeAll(async () => {
  database = await openTestOrm();
  ({ em } = database);
});
beforeEach(async () => {
  const input = { name: 'B', communityUrl: 'https://c.example', customAuthEnabled: true };
  brandId = (await createBrandWithKey(em, input)).brand.id;
});
afterAll(() => database?.close());

const record = (...whats: object[]) =>
  recordActivity(em, { brandId, activities: whats.map((what) => activity(what) as Activity) });

/** What is recorded of the brand, in order. */
const readOutbox = (): Promise<
  { type: string; data: object; occurred_at: unknown; room_id: unknown }[]
> =>
  em.execute(
    'select type, data, occurred_at, user_id, room_id from outbox where brand_id = ? order by sequence',
    [brandId],
  );
const readEvents = async () => (await readOutbox()).map(({ type, data }) => [type, data]);

const ADA = memberInput('ada', {
  customAuthSub: 'sub',
  email: 'ada@example.com',
  phoneNumber: '1',
});

describe('the outbox', () => {
  it('gets each type of event with its payload, in the order in which it happened', async () => {
    const ada = { ...ADA, id: randomUUID() };
    const bob = memberInput('bob');
    const post = postInput(ada.id, { title: 'Title' });
    const postCommentId = randomUUID();
    const comment = { postId: post.id, postCommentId };
    await record(
      { memberJoined: ada },
      { memberJoined: bob },
      { postSaved: post },
      { postLiked: { postId: post.id, userId: bob.id } },
      { postSaved: { ...post, title: 'New title' } },
      { postCommentCreated: { ...comment, userId: ada.id, plainTextContent: 'Nice "ü" 🧶\n' } },
      { postCommentLiked: { ...comment, userId: bob.id } },
    );
    const user = { id: ada.id, customAuthSub: 'sub', email: 'ada@example.com' };
    const nobody = { id: bob.id, customAuthSub: null, email: null };
    const ofComment = { ...comment, postTitle: 'New title' };
    expect(await readEvents()).toEqual([
      ['user.joined', { userId: ada.id, email: 'ada@example.com', phoneNumber: '1', user }],
      ['user.joined', { userId: bob.id, email: null, phoneNumber: null, user: nobody }],
      ['post.created', { postId: post.id, userId: ada.id, user, title: 'Title' }],
      ['post.liked', { postId: post.id, userId: bob.id, user: nobody }],
      [
        'post_comment.created',
        { ...ofComment, plainTextContent: 'Nice "ü" 🧶\n', userId: ada.id, user },
      ],
      ['post_comment.liked', { ...ofComment, userId: bob.id, user: nobody }],
    ]);
    const [first] = await readOutbox();
    expect(new Date(first!.occurred_at as string).toISOString()).toBe('2026-11-01T10:00:00.000Z');
  });

  it('gets post.created the first time that a post is published, and then no more', async () => {
    const post = postInput(randomUUID());
    const draft = { ...post, isPublished: false };
    await record({ postSaved: draft });
    expect(await readEvents()).toEqual([]);
    await record({ postSaved: post });
    await record({ postSaved: { ...post, title: 'Changed' } }, { postSaved: draft });
    await record({ postSaved: post });
    const user = { id: post.userId, customAuthSub: null, email: null };
    const data = { postId: post.id, userId: post.userId, user, title: 'A post' };
    expect(await readEvents()).toEqual([['post.created', data]]);
    expect((await readOutbox())[0]).toMatchObject({ room_id: post.roomId });
  });

  it('gets user.joined from a magic link that makes a member, once', async () => {
    const outlet = { toUrl: (token: string) => token, sendLink: () => Promise.resolve() };
    const input = { customAuthSub: 'new', email: 'new@example.com' };
    const { userId } = await createMagicLink(em, { id: brandId }, input, outlet);
    await createMagicLink(em, { id: brandId }, { ...input, email: 'other@example.com' }, outlet);
    const user = { id: userId, customAuthSub: 'new', email: 'new@example.com' };
    const data = { userId, email: 'new@example.com', phoneNumber: null, user };
    expect(await readEvents()).toEqual([['user.joined', data]]);
  });

  it('gets nothing from what is skipped or refused', async () => {
    const ada = { ...ADA, id: randomUUID() };
    const joined = activity({ memberJoined: ada }) as Activity;
    await recordActivity(em, { brandId, activities: [joined] });
    await recordActivity(em, { brandId, activities: [joined, joined] });
    const like = { postLiked: { postId: randomUUID(), userId: ada.id } };
    await expect(record({ memberJoined: memberInput('b') }, like)).rejects.toThrow(RefusedError);
    expect(await readEvents()).toHaveLength(1);
  });

  it('tells the sequencer to forget a member, between the events before and after', async () => {
    const ada = { ...ADA, id: randomUUID() };
    const post = postInput(ada.id);
    const like = { postLiked: { postId: post.id, userId: ada.id } };
    await record({ memberJoined: ada }, { postSaved: post });
    // What is recorded in the call of the deletion itself is impersonal at once.
    await record(like, { memberDeleted: { id: ada.id } }, { memberJoined: ada }, like);
    const recorded = await readOutbox();
    expect(recorded.map(({ type }) => type)).toEqual([
      'user.joined',
      'post.created',
      MEMBER_FORGOTTEN,
      'post.liked',
      'user.joined',
      'post.liked',
    ]);
    const nobody = { id: ada.id, customAuthSub: null, email: null };
    expect(recorded[3]!.data).toEqual({ postId: post.id, userId: ada.id, user: nobody });
    const user = { id: ada.id, customAuthSub: 'sub', email: 'ada@example.com' };
    expect(recorded[5]!.data).toEqual({ postId: post.id, userId: ada.id, user });
  });

  it('knows every table of records when it looks whether an id is held', async () => {
    const tables = await em.execute<{ name: string }[]>(`
      select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'id' and data_type = 'uuid'`);
    // Neither is shown by its id: activities are the sender's own, links are known by their tokens.
    const shown = tables
      .map(({ name }) => name)
      .filter((n) => !/^(activity|chosen_id|magic_link|event_\d+)$/.test(n));
    expect(shown.toSorted()).toEqual(RECORD_TABLES.toSorted());
  });
});
