import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { brandSchema } from '../src/graphql/schema.ts';
import { type TestBrand } from './support/brand.ts';
import type { Json } from './support/client.ts';
import { applicationOf, communityOf, postInput } from './support/community.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { countStatements } from './support/statements.ts';

let gateway: TestGateway;
let brand: TestBrand;
let other: TestBrand;
let community: ReturnType<typeof communityOf>;
let application: ReturnType<typeof applicationOf>;
let authorId: string;

const ROOMS = [randomUUID(), randomUUID()];
const minute = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString();
/** Twelve posts, the last three at one instant, by turns in two rooms. */
const posts = Array.from({ length: 12 }, (_, index) => ({
  n: index,
  id: randomUUID() as string,
  roomId: ROOMS[index % 2]!,
  createdAt: minute(Math.min(index, 9)),
}));
/** In the order of the list. */
const ordered = posts.toSorted((a, b) =>
  `${a.createdAt}${a.id}` < `${b.createdAt}${b.id}` ? -1 : 1,
);
const idsOf = (nodes: Json[]): string[] => nodes.map(({ id }) => id);

beforeAll(async () => {
  gateway = await startTestGateway();
  brand = await gateway.createBrand();
  other = await gateway.createBrand('Another brand');
  community = communityOf(brand);
  application = applicationOf(gateway.platform, brand.id);
  [authorId = ''] = await application.join('author');
  await application.mustRecord(
    ...posts.map(({ n, ...fields }) => ({
      postSaved: postInput(authorId, { ...fields, title: `Post ${n}` }),
    })),
  );
  await applicationOf(gateway.platform, other.id).mustRecord({
    postSaved: postInput(authorId, { roomId: ROOMS[0] }),
  });
});
afterAll(() => gateway?.close());

describe('posts', () => {
  it('gives the newest first unless told, and every one once', async () => {
    const read = async (order: string) => {
      const seen: string[] = [];
      for (let from = ''; ;) {
        const { data } = await brand.ask(
          `{ posts(first: 5 ${from} ${order}) { totalCount nodes { id } pageInfo { hasNextPage endCursor } } }`,
        );
        expect(data.posts.totalCount).toBe(12);
        seen.push(...idsOf(data.posts.nodes));
        if (!data.posts.pageInfo.hasNextPage) return seen;
        from = `after: "${data.posts.pageInfo.endCursor}"`;
      }
    };
    expect(await read('')).toEqual(idsOf(ordered).toReversed());
    expect(await read('order: null')).toEqual(idsOf(ordered).toReversed());
    expect(await read('order: NEWEST_FIRST')).toEqual(idsOf(ordered).toReversed());
    expect(await read('order: OLDEST_FIRST')).toEqual(idsOf(ordered));
    const { data } = await brand.ask('{ posts { nodes { id } } }');
    expect(idsOf(data.posts.nodes)).toEqual(idsOf(ordered).toReversed().slice(0, 10));
    const last = await brand.ask('{ posts(last: 2) { nodes { id } } }');
    expect(idsOf(last.data.posts.nodes)).toEqual([posts[1]!.id, posts[0]!.id]);
  });

  it('narrows to a room, and to what was written strictly after an instant', async () => {
    const ask = async (args: string) => {
      const { data } = await brand.ask(
        `{ posts(first: 100, order: OLDEST_FIRST, ${args}) { totalCount nodes { id } } }`,
      );
      expect(data.posts.totalCount).toBe(data.posts.nodes.length);
      return idsOf(data.posts.nodes);
    };
    const inRoom = (room: string) => idsOf(ordered.filter(({ roomId }) => roomId === room));
    expect(await ask(`roomId: "${ROOMS[0]}"`)).toEqual(inRoom(ROOMS[0]!));
    expect(await ask(`roomId: "${randomUUID()}"`)).toEqual([]);
    const later = (after: string) => idsOf(ordered.filter(({ createdAt }) => createdAt > after));
    expect(await ask(`createdAtAfter: "${minute(5)}"`)).toEqual(later(minute(5)));
    expect(await ask('createdAtAfter: "2026-01-01T00:05:59.999Z"')).toEqual(later(minute(5)));
    expect(await ask(`createdAtAfter: "${minute(9)}"`)).toEqual([]);
    const both = await ask(`createdAtAfter: "${minute(5)}", roomId: "${ROOMS[1]}"`);
    expect(both).toEqual(inRoom(ROOMS[1]!).filter((id) => later(minute(5)).includes(id)));
    const { errors } = await brand.ask('{ posts(roomId: "x") { nodes { id } } }');
    expect(errors?.[0]?.extensions.issues).toEqual([
      { path: ['roomId'], message: 'must be a UUID' },
    ]);
  });

  it('reads the authors of all posts with one statement more', async () => {
    const query = '{ posts(first: 100) { nodes { userId user { id username } } } }';
    const { data } = await brand.ask(query);
    const user = { id: authorId, username: 'author' };
    expect(data.posts.nodes).toEqual(posts.map(() => ({ userId: authorId, user })));
    expect(await countStatements(() => brand.ask(query))).toBe(2);
  });
});

describe('post', () => {
  it('gives contentHtml exactly as it was given', async () => {
    const contentHtml = `<p onclick="x()">1 &lt; 2 &amp; <b>"ü"</b> 🧶</p>\r\n<script>alert('\\u0041')</script>\t `;
    const input = postInput(authorId, {
      contentHtml,
      title: ' <Title> ',
      type: 'POLL',
      isPinned: true,
    });
    await application.mustRecord({ postSaved: input });
    expect(await community.readPost(input.id)).toEqual({
      ...input,
      publishedAt: '2026-11-01T10:00:00.000Z',
    });
  });

  it('has no user when the author is unknown', async () => {
    const input = postInput(randomUUID());
    await application.mustRecord({ postSaved: input });
    const { data, errors } = await brand.ask(`{ post(id: "${input.id}") { userId user { id } } }`);
    expect(errors).toBeUndefined();
    expect(data.post).toEqual({ userId: input.userId, user: null });
  });

  it("is null for an unknown id, another brand's and one that is no UUID", async () => {
    for (const [id, code] of [
      [randomUUID(), 'NOT_FOUND'],
      ['x', 'BAD_USER_INPUT'],
    ]) {
      const { data, errors } = await brand.ask(`{ post(id: "${id}") { id } }`);
      expect([data.post, errors?.[0]?.extensions.code]).toEqual([null, code]);
    }
    const foreign = await other.ask(`{ post(id: "${posts[0]!.id}") { id } }`);
    expect([foreign.data.post, foreign.errors?.[0]?.extensions.code]).toEqual([null, 'NOT_FOUND']);
  });

  it("is read only: no mutation of the brand's interface gives or takes one", () => {
    const mutations = Object.keys(brandSchema.getMutationType()?.getFields() ?? {});
    expect(mutations.filter((name) => /post/i.test(name))).toEqual([]);
  });
});
