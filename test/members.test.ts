import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import type { Json } from './support/client.ts';
import { applicationOf, communityOf, MEMBER_FIELDS, memberInput } from './support/community.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { countStatements } from './support/statements.ts';

let gateway: TestGateway;
let brand: TestBrand;
let other: TestBrand;
let community: ReturnType<typeof communityOf>;
let application: ReturnType<typeof applicationOf>;
let foreignGroupId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  brand = await gateway.createBrand();
  other = await gateway.createBrand('Another brand');
  community = communityOf(brand);
  application = applicationOf(gateway.platform, brand.id);
  foreignGroupId = (await communityOf(other).createGroup({ name: 'Foreign' })).memberGroup.id;
});
afterAll(() => gateway?.close());

const createGroup = async (name: string): Promise<string> =>
  (await community.createGroup({ name })).memberGroup.id;

let lastName = 0;
const newMember = async (): Promise<string> => (await application.join(`m${++lastName}`))[0]!;

describe('member', () => {
  it('gives everything that is known of a member', async () => {
    const input = memberInput('ada', {
      customAuthSub: 'shop|1',
      firstName: 'Ada',
      lastName: 'Łovelace',
      email: 'Ada@example.com',
      phoneNumber: '+44 (0)20 7946-0000 ext. 1',
      isEmailVerified: true,
      role: 'MODERATOR',
      profilePictureUrl: 'https://img.example/ada.png',
    });
    await application.mustRecord({ memberJoined: input });
    const { customAuthSub: _sub, ...shown } = input as Json;
    expect(await community.readMember(input.id.toUpperCase())).toEqual({
      ...shown,
      isBanned: false,
      groupIds: [],
      createdAt: '2026-11-01T10:00:00.000Z',
    });
  });

  it.each([
    ['an unknown id', randomUUID(), 'NOT_FOUND'],
    ['an id that is no UUID', 'x', 'BAD_USER_INPUT'],
  ])('is null with an error for %s', async (_what, id, code) => {
    const { status, data, errors } = await brand.ask(
      'query ($id: ID!) { member(id: $id) { id } brand { name } }',
      { id },
    );
    expect(status).toBe(200);
    expect(data).toEqual({ member: null, brand: { name: 'A brand' } });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['member'], code],
    ]);
  });

  it("is NOT_FOUND for another brand's member", async () => {
    const id = await newMember();
    const { data, errors } = await other.ask(`{ member(id: "${id}") { id } }`);
    expect([data.member, errors?.[0]?.extensions.code]).toEqual([null, 'NOT_FOUND']);
  });
});

describe('members', () => {
  it('pages by when they joined, both ways, and by group', async () => {
    const mine = await gateway.createBrand('Paging');
    const ids = await applicationOf(gateway.platform, mine.id).join(
      ...Array.from({ length: 25 }, (_, index) => `p${index}`),
    );
    const { memberGroup } = await communityOf(mine).createGroup({ name: 'Even' });
    const even = ids.filter((_, index) => index % 2 === 0);
    for (const id of even) {
      await communityOf(mine).updateMember({ id, groupIds: [memberGroup.id] });
    }
    const readAll = async (args: string, size: string, side: string, cursor: string) => {
      const seen: string[] = [];
      for (let from = ''; ;) {
        const { data } = await mine.ask(
          `{ members(${size}: 4 ${from} ${args}) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
        );
        const { nodes, pageInfo } = data.members;
        const page = nodes.map(({ id }: Json) => id);
        seen[size === 'first' ? 'push' : 'unshift'](...page);
        if (!pageInfo[size === 'first' ? 'hasNextPage' : 'hasPreviousPage']) return seen;
        from = `${side}: "${pageInfo[cursor]}"`;
      }
    };
    const group = `groupId: "${memberGroup.id}"`;
    expect(await readAll('', 'first', 'after', 'endCursor')).toEqual(ids);
    expect(await readAll(group, 'first', 'after', 'endCursor')).toEqual(even);
    expect(await readAll(group, 'last', 'before', 'startCursor')).toEqual(even);
    expect(await readAll(`${group} order: NEWEST_FIRST`, 'first', 'after', 'endCursor')).toEqual(
      even.toReversed(),
    );
    // A bare id is a cursor too, of a member who is in the group or not.
    const { data } = await mine.ask(
      `{ members(${group}, first: 2, after: "${ids[3]}") { totalCount nodes { id } pageInfo { hasPreviousPage } } }`,
    );
    expect(data.members).toEqual({
      totalCount: 13,
      nodes: [{ id: ids[4] }, { id: ids[6] }],
      pageInfo: { hasPreviousPage: true },
    });
  });

  it('is empty for a group that is unknown, or of another brand', async () => {
    await newMember();
    for (const groupId of [randomUUID(), foreignGroupId]) {
      const { data } = await brand.ask(
        `{ members(groupId: "${groupId}") { totalCount nodes { id } } }`,
      );
      expect(data.members).toEqual({ totalCount: 0, nodes: [] });
    }
    const { errors } = await brand.ask('{ members(groupId: "x") { nodes { id } } }');
    expect(errors?.[0]?.extensions.issues).toEqual([
      { path: ['groupId'], message: 'must be a UUID' },
    ]);
  });

  it('takes one statement more for the groups of all, and one for their ids', async () => {
    const groupId = await createGroup('Counted');
    for (let index = 0; index < 3; index++) {
      await community.updateMember({ id: await newMember(), groupIds: [groupId] });
    }
    const count = (selection: string) =>
      countStatements(() => brand.ask(`{ members(first: 50) { nodes { ${selection} } } }`));
    expect(await count('id')).toBe(1);
    expect(await count('groupIds')).toBe(2);
    expect(await count('groupIds groups { nodes { name } }')).toBe(3);
    expect(await count('groups { nodes { members { nodes { id } } } }')).toBe(3);
  });
});

describe('updateMember', () => {
  it('changes what is given, and keeps what is left out', async () => {
    const [a, b] = [await createGroup('A'), await createGroup('B')];
    const id = await newMember();
    const before = await community.readMember(id);
    const banned = await community.updateMember({ id, isBanned: true, groupIds: [b, a] });
    expect(banned).toEqual({
      member: { ...before, isBanned: true, groupIds: [a, b] },
      userErrors: [],
    });
    const unbanned = await community.updateMember({ id: id.toUpperCase(), isBanned: false });
    expect(unbanned.member).toEqual({ ...before, groupIds: [a, b] });
    expect((await community.updateMember({ id })).member).toEqual(unbanned.member);
  });

  it('replaces the whole set of groups, and takes duplicates as one', async () => {
    const [a, b, c] = [await createGroup('A'), await createGroup('B'), await createGroup('C')];
    const id = await newMember();
    const setGroups = async (...groupIds: string[]) =>
      (await community.updateMember({ id, groupIds })).member.groupIds;
    expect(await setGroups(a, b)).toEqual([a, b]);
    expect(await setGroups(c, b.toUpperCase(), c, c)).toEqual([b, c]);
    const { data } = await brand.ask(
      `{ member(id: "${id}") { groups(first: 1) { totalCount nodes { id } pageInfo { hasNextPage } } } }`,
    );
    expect(data.member.groups).toEqual({
      totalCount: 2,
      nodes: [{ id: b }],
      pageInfo: { hasNextPage: true },
    });
    expect(await setGroups()).toEqual([]);
  });

  it('refuses unknown and foreign groups at their paths, and changes nothing', async () => {
    const a = await createGroup('A');
    const id = await newMember();
    await community.updateMember({ id, groupIds: [a] });
    const before = await community.readAll();
    const unknown = randomUUID();
    const answer = await community.updateMember({
      id,
      isBanned: true,
      groupIds: [unknown, a, foreignGroupId],
    });
    expect(answer.member).toBeNull();
    expect(answer.userErrors.map(({ code, field }: Json) => [code, field])).toEqual([
      ['NOT_FOUND', ['groupIds', '0']],
      ['NOT_FOUND', ['groupIds', '2']],
    ]);
    expect(await community.readAll()).toEqual(before);
  });

  it('says whether an email is verified for brands with custom auth only', async () => {
    const id = await newMember();
    const before = await community.readAll();
    const refused = await community.updateMember({ id, isEmailVerified: true, isBanned: true });
    expect(refused).toEqual({
      member: null,
      userErrors: [
        {
          code: 'CUSTOM_AUTH_DISABLED',
          field: ['isEmailVerified'],
          message: expect.stringContaining('custom auth'),
        },
      ],
    });
    expect(await community.readAll()).toEqual(before);

    const auth = await gateway.createBrand('Auth', { customAuthEnabled: true });
    const [member] = await applicationOf(gateway.platform, auth.id).join('v');
    const taken = await communityOf(auth).updateMember({ id: member, isEmailVerified: true });
    expect(taken.member.isEmailVerified).toBe(true);
  });

  it.each([
    ['null for isBanned', { isBanned: null }, ['input', 'isBanned']],
    ['null for isEmailVerified', { isEmailVerified: null }, ['input', 'isEmailVerified']],
    ['null for groupIds', { groupIds: null }, ['input', 'groupIds']],
    ['a group id that is none', { groupIds: [randomUUID(), 'x'] }, ['input', 'groupIds', 1]],
    [
      '101 group ids',
      { groupIds: Array.from({ length: 101 }, () => randomUUID()) },
      ['input', 'groupIds'],
    ],
  ])('refuses %s, and changes nothing', async (_what, fields, path) => {
    const id = await newMember();
    const before = await community.readAll();
    const { errors } = await community.updateMember({ id, isBanned: true, ...fields });
    expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', issues: [{ path }] });
    expect(await community.readAll()).toEqual(before);
  });

  it('puts a member into as many as 100 groups', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 100; index++) ids.push(await createGroup(`G${index}`));
    const id = await newMember();
    expect((await community.updateMember({ id, groupIds: ids })).member.groupIds).toEqual(ids);
  });

  it('answers NOT_FOUND for an unknown member and for one of another brand, who stays', async () => {
    const [foreign] = await applicationOf(gateway.platform, other.id).join('stays');
    const before = await communityOf(other).readAll();
    for (const id of [randomUUID(), foreign]) {
      const answer = await community.updateMember({ id, isBanned: true, groupIds: [] });
      expect(answer).toEqual({
        member: null,
        userErrors: [{ code: 'NOT_FOUND', field: ['id'], message: expect.stringContaining(id!) }],
      });
    }
    expect(await communityOf(other).readAll()).toEqual(before);
  });

  it('leaves one whole set of two that race', async () => {
    const [a, b, c] = [await createGroup('A'), await createGroup('B'), await createGroup('C')];
    const id = await newMember();
    for (let round = 0; round < 5; round++) {
      await Promise.all([
        community.updateMember({ id, groupIds: [a, b] }),
        community.updateMember({ id, groupIds: [b, c] }),
      ]);
      const { groupIds } = await community.readMember(id);
      expect([
        [a, b],
        [b, c],
      ]).toContainEqual(groupIds);
    }
  });

  it('shows what it has written in the same answer', async () => {
    const groupId = await createGroup('Seen');
    const id = await newMember();
    const { data } = await brand.ask(
      `mutation ($input: UpdateMemberInput!) { updateMember(input: $input) {
        member { ${MEMBER_FIELDS} groups { nodes { name members { nodes { id } } } } } } }`,
      { input: { id, groupIds: [groupId] } },
    );
    expect(data.updateMember.member).toMatchObject({
      groupIds: [groupId],
      groups: { nodes: [{ name: 'Seen', members: { nodes: [{ id }] } }] },
    });
  });
});
