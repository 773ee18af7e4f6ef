import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import { catalogueOf, productInput } from './support/catalogue.ts';
import type { Json } from './support/client.ts';
import {
  activity,
  applicationOf,
  communityOf,
  memberInput,
  postInput,
} from './support/community.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { countStatements } from './support/statements.ts';

let gateway: TestGateway;
let other: TestBrand;
let brand: TestBrand;
let community: ReturnType<typeof communityOf>;
let application: ReturnType<typeof applicationOf>;

beforeAll(async () => {
  gateway = await startTestGateway();
  other = await gateway.createBrand('Another brand');
});
beforeEach(async () => {
  brand = await gateway.createBrand();
  community = communityOf(brand);
  application = applicationOf(gateway.platform, brand.id);
});
afterAll(() => gateway?.close());

/** The codes and paths of a refusal; the path from the activity's index on. */
const refusalsOf = ({ userErrors }: Json) =>
  userErrors.map(({ code, field }: Json) => [code, ...field.slice(1)]);

describe('recordActivity', () => {
  it('plays activities in the order given, each on what those before it left', async () => {
    const [ada, bob] = [memberInput('ada', { email: 'a@example.com' }), memberInput('bob')];
    const post = postInput(ada.id, { isPublished: false });
    const answer = await application.record([
      activity({ memberJoined: ada }),
      activity({ memberJoined: bob }),
      activity({ postSaved: post }),
      activity({ postSaved: { ...post, title: 'Better', isPublished: true } }),
      activity({ postLiked: { postId: post.id, userId: bob.id } }),
      activity({ memberUpdated: { id: ada.id, username: 'ada2', firstName: 'Ada', email: null } }),
      activity({ memberUpdated: { id: bob.id, username: 'ada' } }),
      activity({ memberDeleted: { id: bob.id } }),
    ]);
    expect(answer).toEqual({ recordedCount: 8, skippedCount: 0, userErrors: [] });
    const { members, posts } = await community.readAll();
    expect(members.nodes).toEqual([
      expect.objectContaining({ id: ada.id, username: 'ada2', firstName: 'Ada', email: null }),
    ]);
    expect(posts.nodes).toEqual([expect.objectContaining({ id: post.id, title: 'Better' })]);
  });

  it('records each activity once, within a call and over calls', async () => {
    const ada = memberInput('ada');
    const post = postInput(ada.id);
    const batch = [
      activity({ memberJoined: ada }),
      activity({ postSaved: post }),
      activity({ postLiked: { postId: post.id, userId: ada.id } }),
    ];
    const twice = [...batch, { ...batch[0]!, id: batch[0]!.id.toUpperCase() }];
    expect(await application.record(twice)).toMatchObject({ recordedCount: 3, skippedCount: 1 });
    const before = await community.readAll();
    expect(await application.record(batch)).toEqual({
      recordedCount: 0,
      skippedCount: 3,
      userErrors: [],
    });
    // What was recorded is not looked at again, even when it could not be now.
    await application.mustRecord({ postDeleted: { id: post.id } });
    const later = activity({ memberUpdated: { id: ada.id, lastName: 'L' } });
    const answer = await application.record([...batch, later]);
    expect(answer).toMatchObject({ recordedCount: 1, skippedCount: 3 });
    expect(before.members.totalCount).toBe(1);
  });

  it('keeps the ids of activities apart by brand', async () => {
    const joined = activity({ memberJoined: memberInput('ada') });
    await application.record([joined]);
    const elsewhere = { ...joined, what: { memberJoined: memberInput('ada') } };
    const answer = await applicationOf(gateway.platform, other.id).record([elsewhere]);
    expect(answer).toMatchObject({ recordedCount: 1, skippedCount: 0 });
  });

  it('does all or nothing, and a refused activity can be sent again', async () => {
    const ada = memberInput('ada');
    const like = activity({ postLiked: { postId: randomUUID(), userId: ada.id } });
    const batch = [
      activity({ memberJoined: ada }),
      activity({ postSaved: postInput(ada.id) }),
      like,
    ];
    const before = await community.readAll();
    const answer = await application.record(batch);
    expect(answer).toMatchObject({ recordedCount: 0, skippedCount: 0 });
    expect(answer.userErrors).toEqual([
      {
        code: 'NOT_FOUND',
        field: ['activities', '2', 'what', 'postLiked', 'postId'],
        message: expect.stringContaining(like.what && (like.what as Json).postLiked.postId),
      },
    ]);
    expect(await community.readAll()).toEqual(before);
    expect(await application.record(batch.slice(0, 2))).toMatchObject({ recordedCount: 2 });
  });

  it('names every unknown post and member at its path', async () => {
    const [ada = ''] = await application.join('ada');
    const post = postInput(ada);
    await application.mustRecord({ postSaved: post });
    const [postId, userId, commentId] = [randomUUID(), randomUUID(), randomUUID()];
    const [foreign = ''] = await applicationOf(gateway.platform, other.id).join(randomUUID());
    const foreignPost = postInput(foreign);
    await applicationOf(gateway.platform, other.id).mustRecord({ postSaved: foreignPost });
    const before = await community.readAll();
    const comment = { postCommentId: commentId, plainTextContent: 'x' };
    const answer = await application.record(
      [
        { memberUpdated: { id: userId, firstName: 'x' } },
        { memberDeleted: { id: foreign } },
        { postDeleted: { id: foreignPost.id } },
        { postLiked: { postId, userId } },
        { postLiked: { postId: post.id, userId: foreign } },
        { postCommentCreated: { ...comment, postId: foreignPost.id, userId: ada } },
        { postCommentLiked: { postCommentId: commentId, postId: post.id, userId } },
      ].map((what) => activity(what)),
    );
    expect(refusalsOf(answer)).toEqual([
      ['NOT_FOUND', '0', 'what', 'memberUpdated', 'id'],
      ['NOT_FOUND', '1', 'what', 'memberDeleted', 'id'],
      ['NOT_FOUND', '2', 'what', 'postDeleted', 'id'],
      ['NOT_FOUND', '3', 'what', 'postLiked', 'postId'],
      ['NOT_FOUND', '3', 'what', 'postLiked', 'userId'],
      ['NOT_FOUND', '4', 'what', 'postLiked', 'userId'],
      ['NOT_FOUND', '5', 'what', 'postCommentCreated', 'postId'],
      ['NOT_FOUND', '6', 'what', 'postCommentLiked', 'userId'],
    ]);
    expect(await community.readAll()).toEqual(before);
  });

  it('answers NOT_FOUND for an unknown brand', async () => {
    const answer = await application.record(
      [activity({ memberJoined: memberInput('x') })],
      randomUUID(),
    );
    expect(answer).toMatchObject({
      recordedCount: 0,
      userErrors: [{ code: 'NOT_FOUND', field: ['brandId'] }],
    });
  });

  it('refuses ids that any record has, of any brand and type, and touches none of them', async () => {
    const strange = applicationOf(gateway.platform, other.id);
    const [foreign = ''] = await strange.join(randomUUID());
    const foreignPost = postInput(foreign);
    await strange.mustRecord({ postSaved: foreignPost });
    const { memberGroup } = await communityOf(other).createGroup({ name: 'G' });
    const { product } = await catalogueOf(other).createProduct(productInput(randomUUID()));
    const [mine = ''] = await application.join('mine');
    const before = [await community.readAll(), await communityOf(other).readAll()];
    const held = [foreign, foreignPost.id, memberGroup.id, product.id, mine, brand.id];
    for (const id of held) {
      const joined = await application.record([
        activity({ memberJoined: { ...memberInput('new'), id } }),
      ]);
      expect(refusalsOf(joined)).toEqual([['TAKEN', '0', 'what', 'memberJoined', 'id']]);
      const saved = await application.record([activity({ postSaved: { ...postInput(mine), id } })]);
      expect(refusalsOf(saved)).toEqual([['TAKEN', '0', 'what', 'postSaved', 'id']]);
    }
    const id = randomUUID();
    const both = await application.record([
      activity({ memberJoined: { ...memberInput('new'), id } }),
      activity({ postSaved: { ...postInput(mine), id } }),
    ]);
    expect(refusalsOf(both)).toEqual([['TAKEN', '1', 'what', 'postSaved', 'id']]);
    expect([await community.readAll(), await communityOf(other).readAll()]).toEqual(before);
  });

  it('refuses a username and a customAuthSub of another member', async () => {
    const ada = memberInput('ada', { customAuthSub: 'sub-1' });
    await application.mustRecord({ memberJoined: ada });
    const [bob = ''] = await application.join('bob');
    const before = await community.readAll();
    const answer = await application.record([
      activity({ memberJoined: memberInput('ada', { customAuthSub: 'sub-1' }) }),
      activity({ memberUpdated: { id: bob, username: 'ada' } }),
      activity({ memberJoined: memberInput('carl', { customAuthSub: 'sub-2' }) }),
      activity({ memberJoined: memberInput('dora', { customAuthSub: 'sub-2' }) }),
    ]);
    expect(refusalsOf(answer)).toEqual([
      ['TAKEN', '0', 'what', 'memberJoined', 'username'],
      ['TAKEN', '0', 'what', 'memberJoined', 'customAuthSub'],
      ['TAKEN', '1', 'what', 'memberUpdated', 'username'],
      ['TAKEN', '3', 'what', 'memberJoined', 'customAuthSub'],
    ]);
    expect(await community.readAll()).toEqual(before);
    // In another brand they are free.
    const elsewhere = activity({ memberJoined: { ...ada, id: randomUUID() } });
    const taken = await applicationOf(gateway.platform, (await gateway.createBrand()).id).record([
      elsewhere,
    ]);
    expect(taken.recordedCount).toBe(1);
  });

  it('passes a username on from one member to another in one call', async () => {
    const [a = '', b = ''] = await application.join('a', 'b');
    await application.mustRecord(
      { memberUpdated: { id: a, username: 'free' } },
      { memberUpdated: { id: b, username: 'a' } },
      { memberUpdated: { id: a, username: 'b' } },
    );
    const { members } = await community.readAll();
    expect(members.nodes.map(({ username }: Json) => username)).toEqual(['b', 'a']);
    const c = memberInput('b');
    await application.mustRecord({ memberDeleted: { id: a } }, { memberJoined: c });
    expect((await community.readMember(c.id)).username).toBe('b');
  });

  it('has defaults for what is left out or null, and for members who join again', async () => {
    const ada = memberInput('ada');
    await application.mustRecord({ memberJoined: ada });
    const bare = {
      ...ada,
      firstName: null,
      lastName: null,
      email: null,
      phoneNumber: null,
      isEmailVerified: false,
      isBanned: false,
      role: 'CUSTOMER',
      profilePictureUrl: null,
      groupIds: [],
    };
    expect(await community.readMember(ada.id)).toMatchObject(bare);
    const { memberGroup } = await community.createGroup({ name: 'G' });
    await community.updateMember({ id: ada.id, isBanned: true, groupIds: [memberGroup.id] });
    const nulls = { isEmailVerified: null, role: null, email: null };
    await application.mustRecord(
      { memberDeleted: { id: ada.id } },
      { memberJoined: { ...ada, ...nulls } },
      { memberUpdated: { id: ada.id, lastName: 'L' } },
    );
    expect(await community.readMember(ada.id)).toMatchObject({ ...bare, lastName: 'L' });
  });

  it('keeps what is left out of memberUpdated, and clears what is null', async () => {
    const ada = memberInput('ada', {
      firstName: 'A',
      email: 'a@example.com',
      isEmailVerified: true,
    });
    await application.mustRecord({ memberJoined: ada });
    await application.mustRecord({ memberUpdated: { id: ada.id, firstName: null, role: 'STAFF' } });
    expect(await community.readMember(ada.id)).toMatchObject({
      username: 'ada',
      firstName: null,
      email: 'a@example.com',
      isEmailVerified: true,
      role: 'STAFF',
    });
  });

  it('saves posts with defaults, and keeps what is left out of one that is known', async () => {
    const post = postInput(randomUUID());
    const draft = { ...post, isPublished: false };
    await application.mustRecord({ postSaved: draft });
    expect(await community.readPost(post.id)).toEqual({
      ...draft,
      type: 'TEXT',
      isPinned: false,
      publishedAt: null,
    });
    const given = {
      ...post,
      type: 'POLL',
      isPinned: true,
      publishedAt: '2025-01-01T00:00:00.000Z',
    };
    await application.mustRecord({ postSaved: given });
    expect(await community.readPost(post.id)).toEqual(given);
    const moved = { ...post, title: 'Moved', roomId: randomUUID(), isPublished: false };
    await application.mustRecord({ postSaved: moved });
    expect(await community.readPost(post.id)).toEqual({ ...given, ...moved });
    const nulls = { ...moved, type: null, isPinned: null, publishedAt: null };
    await application.mustRecord({ postSaved: nulls });
    expect(await community.readPost(post.id)).toMatchObject({
      type: 'TEXT',
      isPinned: false,
      publishedAt: null,
    });
    await application.mustRecord({ postSaved: post });
    expect((await community.readPost(post.id)).publishedAt).toBe('2026-11-01T10:00:00.000Z');
  });

  it('deletes a member and leaves the posts, and deletes a post', async () => {
    const [ada = ''] = await application.join('ada');
    const post = postInput(ada);
    await application.mustRecord({ postSaved: post }, { memberDeleted: { id: ada } });
    const { data } = await brand.ask(`{ post(id: "${post.id}") { userId user { id } } }`);
    expect(data.post).toEqual({ userId: ada, user: null });
    await application.mustRecord({ postSaved: { ...post, title: 'By one who left' } });
    await application.mustRecord({ postDeleted: { id: post.id } });
    expect((await community.readAll()).posts.totalCount).toBe(0);
  });

  it.each([
    ['an id that is no UUID', { id: 'x' }, ['id']],
    ['a time that is none', { occurredAt: 'now' }, ['occurredAt']],
    ['no kind', { what: {} }, ['what']],
    [
      'two kinds',
      { what: { postDeleted: { id: randomUUID() }, memberDeleted: { id: randomUUID() } } },
      ['what'],
    ],
    ['a kind that is null', { what: { postDeleted: null } }, ['what', 'postDeleted']],
    ['an empty username', joined({ username: '' }), ['what', 'memberJoined', 'username']],
    [
      'a username of 256 characters',
      joined({ username: 'x'.repeat(256) }),
      ['what', 'memberJoined', 'username'],
    ],
    [
      'an email that is none',
      joined({ email: 'a b@example.com' }),
      ['what', 'memberJoined', 'email'],
    ],
    [
      'two emails',
      joined({ email: 'a@example.com,b@example.com' }),
      ['what', 'memberJoined', 'email'],
    ],
    [
      'a phone number of 33 characters',
      joined({ phoneNumber: '1'.repeat(33) }),
      ['what', 'memberJoined', 'phoneNumber'],
    ],
    [
      'a picture that is no URL',
      joined({ profilePictureUrl: 'x' }),
      ['what', 'memberJoined', 'profilePictureUrl'],
    ],
    ['null for a username', updated({ username: null }), ['what', 'memberUpdated', 'username']],
    ['null for a role', updated({ role: null }), ['what', 'memberUpdated', 'role']],
    [
      'null for isEmailVerified',
      updated({ isEmailVerified: null }),
      ['what', 'memberUpdated', 'isEmailVerified'],
    ],
    [
      'a title of 256 characters',
      saved({ title: 'x'.repeat(256) }),
      ['what', 'postSaved', 'title'],
    ],
    [
      'an HTML of 262,145 characters',
      saved({ contentHtml: 'x'.repeat(262_145) }),
      ['what', 'postSaved', 'contentHtml'],
    ],
    ['a room that is no UUID', saved({ roomId: 'x' }), ['what', 'postSaved', 'roomId']],
  ])('refuses %s at its path, and records nothing', async (_what, fields, path) => {
    const good = activity({ memberJoined: memberInput('good') });
    const before = await community.readAll();
    const { errors } = await application.record([
      good,
      { ...activity({ postDeleted: { id: randomUUID() } }), ...fields },
    ]);
    expect(errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', 'activities', 1, ...path] }],
    });
    expect(await community.readAll()).toEqual(before);
    expect(await application.record([good])).toMatchObject({ recordedCount: 1 });
  });

  it('takes 500 activities with a handful of statements, and not 501', async () => {
    const ids = await application.join(...Array.from({ length: 100 }, (_, n) => `old${n}`));
    const likes = (post: string) => ids.map((userId) => ({ postLiked: { postId: post, userId } }));
    const post = postInput(ids[0]!);
    const whats = [
      ...Array.from({ length: 90 }, (_, n) => ({ memberJoined: memberInput(`new${n}`) })),
      ...ids.slice(0, 50).map((id) => ({ memberUpdated: { id, firstName: 'F' } })),
      { postSaved: post },
      ...Array.from({ length: 89 }, () => ({ postSaved: postInput(ids[1]!) })),
      ...likes(post.id),
      ...ids.slice(0, 70).map((userId) => ({
        postCommentCreated: {
          postId: post.id,
          postCommentId: randomUUID(),
          userId,
          plainTextContent: 'x',
        },
      })),
      ...ids.slice(50, 99).map((id) => ({ memberDeleted: { id } })),
      ...Array.from({ length: 50 }, () => ({
        postCommentLiked: { postId: post.id, postCommentId: randomUUID(), userId: ids[0]! },
      })),
      { postDeleted: { id: post.id } },
    ];
    expect(whats).toHaveLength(500);
    const batch = whats.map((what) => activity(what));
    const over = await application.record([
      ...batch,
      activity({ postDeleted: { id: randomUUID() } }),
    ]);
    expect(over.errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', 'activities'] }],
    });
    let answer: Json;
    const count = await countStatements(async () => {
      answer = await application.record(batch);
      return {};
    });
    expect(answer).toEqual({ recordedCount: 500, skippedCount: 0, userErrors: [] });
    // All kinds at once.
    expect(count).toBeLessThanOrEqual(16);
    expect((await community.readAll()).members.totalCount).toBe(141);
  });

  it('takes an empty call', async () => {
    expect(await application.record([])).toEqual({
      recordedCount: 0,
      skippedCount: 0,
      userErrors: [],
    });
  });

  it('keeps calls that race apart: each activity is recorded once', async () => {
    const members = Array.from({ length: 20 }, (_, n) => memberInput(`racer${n}`));
    const batch = members.map((memberJoined) => activity({ memberJoined }));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => application.record(n % 2 ? batch : batch.toReversed())),
    );
    expect(answers.map(({ recordedCount }) => recordedCount).toSorted()).toEqual([
      0, 0, 0, 0, 0, 20,
    ]);
    expect((await community.readAll()).members.totalCount).toBe(20);
  });
});

function joined(fields: object): object {
  return { what: { memberJoined: { ...memberInput('bad'), ...fields } } };
}

function updated(fields: object): object {
  return { what: { memberUpdated: { id: randomUUID(), ...fields } } };
}

function saved(fields: object): object {
  return { what: { postSaved: { ...postInput(randomUUID()), ...fields } } };
}
