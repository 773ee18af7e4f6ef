import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import type { Json } from './support/client.ts';
import {
  activity,
  applicationOf,
  communityOf,
  memberInput,
  postInput,
} from './support/community.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
let brand: TestBrand;
let other: TestBrand;
let application: ReturnType<typeof applicationOf>;

beforeAll(async () => {
  gateway = await startTestGateway();
  other = await gateway.createBrand('Another brand');
});
beforeEach(async () => {
  brand = await gateway.createBrand('Events', { customAuthEnabled: true });
  application = applicationOf(gateway.platform, brand.id);
});
afterAll(() => gateway?.close());

const EVENT_FIELDS = `__typename id cursor type timestamp
  ... on UserJoinedEvent { userId user { userId customAuthSub email } email phoneNumber member { username } }
  ... on PostCreatedEvent { userId user { userId customAuthSub email } postId title post { title } }
  ... on PostLikedEvent { userId user { userId customAuthSub email } postId post { title } }
  ... on PostCommentCreatedEvent { userId user { userId customAuthSub email } postId postTitle postCommentId plainTextContent post { title } }
  ... on PostCommentLikedEvent { userId user { userId customAuthSub email } postId postTitle postCommentId post { title } }`;
const PAGE_INFO = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';

async function read(args = '', client = brand): Promise<Json> {
  const query = `{ events${args && `(${args})`} { edges { cursor } nodes { ${EVENT_FIELDS} } ${PAGE_INFO} } }`;
  const { data, errors } = await client.ask(query);
  return data?.events ?? { errors };
}

/** Waits until the log holds a number of events, which it does shortly after they are recorded. */
const readWhole = (count: number): Promise<Json> =>
  vi.waitFor(async () => {
    const page = await read('first: 100');
    expect(page.nodes).toHaveLength(count);
    return page;
  }, 10_000);

const readEnd = async (): Promise<string> =>
  (await brand.ask('{ brand { eventCursor } }')).data.brand.eventCursor;

/** Somebody who joins and likes their own post a number of times, ending at `2 + likes` events. */
async function recordLikes(likes: number): Promise<{ userId: string; postId: string }> {
  const [userId = ''] = await application.join(`member-${randomUUID()}`);
  const post = postInput(userId);
  const like = { postLiked: { postId: post.id, userId } };
  await application.mustRecord({ postSaved: post }, ...Array.from({ length: likes }, () => like));
  return { userId, postId: post.id };
}

describe('events', () => {
  it('gives each type of event with all that it carries, in the order recorded', async () => {
    const ada = memberInput('ada', {
      customAuthSub: 's',
      email: 'a@example.com',
      phoneNumber: '1',
    });
    const post = postInput(ada.id, { title: 'Old title' });
    const comment = { postId: post.id, postCommentId: randomUUID(), userId: ada.id };
    const whats = [
      { memberJoined: ada },
      { postSaved: post },
      { postSaved: { ...post, title: 'New title' } },
      { postLiked: { postId: post.id, userId: ada.id } },
      { postCommentCreated: { ...comment, plainTextContent: 'Nice' } },
      { postCommentLiked: comment },
    ];
    const times = whats.map((_, n) => new Date(Date.UTC(2026, 5, 10 - n)).toISOString());
    await application.record(whats.map((what, n) => activity(what, { occurredAt: times[n] })));
    const { nodes } = await readWhole(5);
    const userId = ada.id;
    const user = { userId, customAuthSub: 's', email: 'a@example.com' };
    const ofAll = { id: expect.any(String), cursor: expect.any(String), userId, user };
    const ofPost = { ...ofAll, postId: post.id, post: { title: 'New title' } };
    const ofComment = { ...ofPost, postTitle: 'New title', postCommentId: comment.postCommentId };
    expect(nodes).toEqual([
      {
        ...ofAll,
        __typename: 'UserJoinedEvent',
        type: 'USER_JOINED',
        timestamp: times[0],
        email: 'a@example.com',
        phoneNumber: '1',
        member: { username: 'ada' },
      },
      {
        ...ofPost,
        __typename: 'PostCreatedEvent',
        type: 'POST_CREATED',
        timestamp: times[1],
        title: 'Old title',
      },
      { ...ofPost, __typename: 'PostLikedEvent', type: 'POST_LIKED', timestamp: times[3] },
      {
        ...ofComment,
        __typename: 'PostCommentCreatedEvent',
        type: 'POST_COMMENT_CREATED',
        timestamp: times[4],
        plainTextContent: 'Nice',
      },
      {
        ...ofComment,
        __typename: 'PostCommentLikedEvent',
        type: 'POST_COMMENT_LIKED',
        timestamp: times[5],
      },
    ]);
  });

  it('has what a magic link records, and keeps nothing but the event when posts and members go', async () => {
    await communityOf(brand).createMagicLink({ customAuthSub: 'new', email: 'n@example.com' });
    const { postId } = await recordLikes(1);
    await application.mustRecord({ postDeleted: { id: postId } });
    const { nodes } = await readWhole(4);
    expect(nodes[0]).toMatchObject({ type: 'USER_JOINED', email: 'n@example.com' });
    expect(nodes[3]).toMatchObject({ type: 'POST_LIKED', postId, post: null });
  });

  it('pages both ways, every event once, each behind its own cursor', async () => {
    await recordLikes(21);
    const { nodes } = await readWhole(23);
    const all = nodes.map(({ id }: Json) => id);
    for (const [size, side, more, cursor] of [
      ['first', 'after', 'hasNextPage', 'endCursor'],
      ['last', 'before', 'hasPreviousPage', 'startCursor'],
    ] as const) {
      const seen: string[] = [];
      for (let from = ''; ;) {
        const page = await read(`${size}: 5 ${from}`);
        const ids = page.nodes.map(({ id }: Json) => id);
        seen[size === 'first' ? 'push' : 'unshift'](...ids);
        expect(page.pageInfo.hasPreviousPage).toBe(ids[0] !== all[0]);
        expect(page.pageInfo.hasNextPage).toBe(ids.at(-1) !== all.at(-1));
        expect(page.edges.map((edge: Json) => edge.cursor)).toEqual(
          page.nodes.map((node: Json) => node.cursor),
        );
        if (!page.pageInfo[more]) break;
        from = `${side}: "${page.pageInfo[cursor]}"`;
      }
      expect(seen).toEqual(all);
    }
    const default10 = await read();
    expect(default10.nodes.map(({ id }: Json) => id)).toEqual(all.slice(0, 10));
    const between = await read(`after: "${nodes[2].cursor}", before: "${all[6]}"`);
    expect(between.nodes.map(({ id }: Json) => id)).toEqual(all.slice(3, 6));
    const none = await read(`after: "${nodes[22].cursor}"`);
    expect([none.nodes, none.pageInfo.hasNextPage, none.pageInfo.endCursor]).toEqual([
      [],
      false,
      null,
    ]);
  });

  it('narrows to types, in the order of the log', async () => {
    await recordLikes(3);
    await recordLikes(2);
    await readWhole(9);
    const typesOf = async (args: string) => (await read(args)).nodes.map(({ type }: Json) => type);
    expect(await typesOf('types: [USER_JOINED]')).toEqual(['USER_JOINED', 'USER_JOINED']);
    expect(await typesOf('types: [POST_CREATED, USER_JOINED, USER_JOINED], first: 3')).toEqual([
      'USER_JOINED',
      'POST_CREATED',
      'USER_JOINED',
    ]);
    expect(await typesOf('types: [POST_CREATED, USER_JOINED], last: 1')).toEqual(['POST_CREATED']);
    expect(await typesOf('types: [POST_COMMENT_LIKED]')).toEqual([]);
    expect(await typesOf('types: []')).toHaveLength(9);
    const page = await read('types: [POST_LIKED], first: 4');
    expect(page.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  });

  it('is empty at first, and brand.eventCursor is its end, then and later', async () => {
    const start = await readEnd();
    expect(await read()).toMatchObject({ nodes: [], pageInfo: { hasNextPage: false } });
    expect((await read(`after: "${start}"`)).nodes).toEqual([]);
    await recordLikes(1);
    const { nodes } = await readWhole(3);
    expect((await read(`after: "${start}"`)).nodes).toEqual(nodes);
    expect(await readEnd()).toBe(nodes[2].cursor);
  });

  it("refuses what is no cursor of the brand's log at its path", async () => {
    await recordLikes(1);
    const { nodes } = await readWhole(3);
    const cursor: string = nodes[1].cursor;
    const otherEnd = (await other.ask('{ brand { eventCursor } }')).data.brand.eventCursor;
    const forged = Buffer.from(cursor, 'base64url');
    forged[7]! += 1;
    for (const bad of [
      '',
      'x',
      `${cursor}=`,
      cursor.slice(0, -1),
      forged.toString('base64url'),
      otherEnd,
      randomUUID(),
    ]) {
      for (const side of ['after', 'before']) {
        const { errors } = await read(`${side}: "${bad}"`);
        expect(errors[0].extensions).toMatchObject({
          code: 'BAD_USER_INPUT',
          issues: [{ path: [side] }],
        });
      }
    }
    for (const [args, path] of [
      ['first: 0', 'first'],
      ['last: 101', 'last'],
      ['first: 1, last: 1', 'last'],
      [`types: [${Array(11).fill('POST_LIKED').join(' ')}]`, 'types'],
    ]) {
      const { errors } = await read(args);
      expect(errors[0].extensions.issues[0].path).toEqual([path]);
    }
  });

  it("gives nothing of another brand's, and finds its own by node and nodes", async () => {
    await recordLikes(1);
    const { nodes } = await readWhole(3);
    const ids = nodes.map(({ id }: Json) => id);
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Event { ${EVENT_FIELDS} } } }`;
    expect((await brand.ask(query, { ids })).data.nodes).toEqual(nodes);
    expect((await other.ask(query, { ids })).data.nodes).toEqual([null, null, null]);
    expect((await read('', other)).nodes).toEqual([]);
    const foreign = await read(`after: "${ids[0]}"`, other);
    expect(foreign.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  it('keeps the place of events whose member is deleted, without the personal data', async () => {
    const ada = memberInput('ada', {
      customAuthSub: 's',
      email: 'a@example.com',
      phoneNumber: '1',
    });
    const bob = memberInput('bob', { email: 'b@example.com' });
    const post = postInput(ada.id);
    const like = (userId: string) => ({ postLiked: { postId: post.id, userId } });
    await application.mustRecord(
      { memberJoined: ada },
      { memberJoined: bob },
      { postSaved: post },
      like(ada.id),
      like(bob.id),
    );
    const before = (await readWhole(5)).nodes;
    await application.mustRecord(
      like(ada.id),
      { memberDeleted: { id: ada.id } },
      { memberJoined: ada },
    );
    const after = (await readWhole(7)).nodes;
    const nobody = { userId: ada.id, customAuthSub: null, email: null };
    expect(after.slice(0, 5)).toEqual(
      before.map((event: Json) =>
        event.userId === bob.id
          ? event
          : expect.objectContaining({ id: event.id, cursor: event.cursor, user: nobody }),
      ),
    );
    expect(after[0]).toMatchObject({ email: null, phoneNumber: null });
    expect(after[5].user).toEqual(nobody);
    // One who joins again is somebody new.
    await vi.waitFor(async () => {
      expect((await readWhole(7)).nodes[6]).toMatchObject({
        email: 'a@example.com',
        user: { customAuthSub: 's' },
      });
    });
  });
});
