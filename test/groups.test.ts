import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import type { Json } from './support/client.ts';
import { applicationOf, communityOf, GROUP_FIELDS } from './support/community.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { countStatements } from './support/statements.ts';

let gateway: TestGateway;
let brand: TestBrand;
let other: TestBrand;
let community: ReturnType<typeof communityOf>;

beforeAll(async () => {
  gateway = await startTestGateway();
  brand = await gateway.createBrand();
  other = await gateway.createBrand('Another brand');
  community = communityOf(brand);
});
afterAll(() => gateway?.close());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const BADGE = { name: 'VIP', foregroundColor: '#ffFFff', backgroundColor: '#1a2B3c' };

describe('createMemberGroup', () => {
  it('makes a group, with a badge or without', async () => {
    const { memberGroup, userErrors } = await community.createGroup({
      name: ' Early 🐦 ',
      brandMemberBadge: BADGE,
    });
    expect(userErrors).toEqual([]);
    expect(memberGroup).toEqual({
      id: expect.stringMatching(UUID),
      name: ' Early 🐦 ',
      brandMemberBadge: { id: expect.stringMatching(UUID), ...BADGE },
    });
    for (const fields of [{}, { brandMemberBadge: null }]) {
      const bare = await community.createGroup({ name: 'Bare', ...fields });
      expect(bare.memberGroup.brandMemberBadge).toBeNull();
    }
  });

  it.each([
    ['an empty name', { name: '' }, ['name']],
    ['a name of 256 characters', { name: 'x'.repeat(256) }, ['name']],
    ['a badge with an empty name', badge({ name: '' }), ['brandMemberBadge', 'name']],
    [
      'a badge with a name of 256 characters',
      badge({ name: 'x'.repeat(256) }),
      ['brandMemberBadge', 'name'],
    ],
    [
      'a colour of three digits',
      badge({ foregroundColor: '#fff' }),
      ['brandMemberBadge', 'foregroundColor'],
    ],
    [
      'a colour without #',
      badge({ backgroundColor: 'ffffff' }),
      ['brandMemberBadge', 'backgroundColor'],
    ],
    [
      'a colour by name',
      badge({ backgroundColor: 'red' }),
      ['brandMemberBadge', 'backgroundColor'],
    ],
    [
      'a colour with a line end',
      badge({ backgroundColor: '#ffffff\n' }),
      ['brandMemberBadge', 'backgroundColor'],
    ],
    [
      'a badge without a colour',
      { brandMemberBadge: { name: 'x', foregroundColor: '#ffffff' } },
      ['brandMemberBadge', 'backgroundColor'],
    ],
    ['no name', { name: null }, ['name']],
  ])('refuses %s at its path, and makes nothing', async (_what, fields, path) => {
    const before = await community.readAll();
    const { errors } = await community.createGroup({ name: 'Bad', ...fields });
    expect(errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', ...path] }],
    });
    expect(await community.readAll()).toEqual(before);
  });
});

function badge(fields: object): { brandMemberBadge: object } {
  return { brandMemberBadge: { ...BADGE, ...fields } };
}

describe('updateMemberGroup', () => {
  it('changes what is given and keeps what is left out; the badge keeps its id', async () => {
    const { memberGroup } = await community.createGroup({ name: 'Old', brandMemberBadge: BADGE });
    const renamed = await community.updateGroup({ id: memberGroup.id.toUpperCase(), name: 'New' });
    expect(renamed).toEqual({ memberGroup: { ...memberGroup, name: 'New' }, userErrors: [] });
    const gold = { ...BADGE, name: 'Gold' };
    const changed = await community.updateGroup({ id: memberGroup.id, brandMemberBadge: gold });
    expect(changed.memberGroup).toEqual({
      id: memberGroup.id,
      name: 'New',
      brandMemberBadge: { id: memberGroup.brandMemberBadge.id, ...gold },
    });
  });

  it('removes the badge that is null; one that is given again is another', async () => {
    const { memberGroup } = await community.createGroup({ name: 'B', brandMemberBadge: BADGE });
    const { id } = memberGroup;
    const removed = await community.updateGroup({ id, brandMemberBadge: null });
    expect(removed.memberGroup).toEqual({ ...memberGroup, brandMemberBadge: null });
    expect(
      (await community.updateGroup({ id, name: 'C' })).memberGroup.brandMemberBadge,
    ).toBeNull();
    const again = await community.updateGroup({ id, brandMemberBadge: BADGE });
    expect(again.memberGroup.brandMemberBadge).toEqual({
      id: expect.stringMatching(UUID),
      ...BADGE,
    });
    expect(again.memberGroup.brandMemberBadge.id).not.toBe(memberGroup.brandMemberBadge.id);
  });

  it('refuses null for the name and half a badge, and changes nothing', async () => {
    const { memberGroup } = await community.createGroup({ name: 'Keep', brandMemberBadge: BADGE });
    const before = await community.readAll();
    for (const [fields, path] of [
      [{ name: null, brandMemberBadge: null }, ['input', 'name']],
      [{ brandMemberBadge: { name: 'Half' } }, ['input', 'brandMemberBadge', 'foregroundColor']],
    ] as const) {
      const { errors } = await community.updateGroup({ id: memberGroup.id, ...fields });
      expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
      expect(errors[0].extensions.issues.map((issue: Json) => issue.path)).toContainEqual(path);
    }
    expect(await community.readAll()).toEqual(before);
  });

  it('has the bounds that createMemberGroup has, and changes nothing', async () => {
    const { memberGroup } = await community.createGroup({ name: 'Keep', brandMemberBadge: BADGE });
    const before = await community.readAll();
    for (const [fields, path] of [
      [{ name: '' }, ['name']],
      [{ name: 'x'.repeat(256) }, ['name']],
      [badge({ name: '' }), ['brandMemberBadge', 'name']],
      [badge({ foregroundColor: '#ggffff' }), ['brandMemberBadge', 'foregroundColor']],
      [badge({ backgroundColor: '#ffffff ' }), ['brandMemberBadge', 'backgroundColor']],
    ] as const) {
      const { errors } = await community.updateGroup({ id: memberGroup.id, ...fields });
      expect(errors[0].extensions.issues[0].path).toEqual(['input', ...path]);
    }
    expect(await community.readAll()).toEqual(before);
    const name = 'x'.repeat(255);
    const taken = await community.updateGroup({ id: memberGroup.id, name, ...badge({ name }) });
    expect(taken.memberGroup).toMatchObject({ name, brandMemberBadge: { name } });
  });

  it("answers NOT_FOUND for an unknown group and for another brand's, which stays", async () => {
    const { memberGroup } = await communityOf(other).createGroup({ name: 'Theirs' });
    const before = await communityOf(other).readAll();
    for (const id of [randomUUID(), memberGroup.id]) {
      expect(await community.updateGroup({ id, name: 'Stolen' })).toMatchObject({
        memberGroup: null,
        userErrors: [{ code: 'NOT_FOUND', field: ['id'] }],
      });
    }
    expect(await communityOf(other).readAll()).toEqual(before);
  });
});

describe('memberGroup and memberGroups', () => {
  it('give the groups of the brand, the oldest first, each with its members', async () => {
    const mine = await gateway.createBrand('Groups');
    const ids: string[] = [];
    for (const name of ['A', 'B', 'C']) {
      ids.push((await communityOf(mine).createGroup({ name })).memberGroup.id);
    }
    const members = await applicationOf(gateway.platform, mine.id).join('x', 'y', 'z');
    for (const [index, id] of members.entries()) {
      await communityOf(mine).updateMember({ id, groupIds: ids.slice(index) });
    }
    const query = `{ memberGroups { totalCount nodes { name members(first: 2) {
      totalCount nodes { username } pageInfo { hasNextPage endCursor } } } } }`;
    const { data } = await mine.ask(query);
    const shown = data.memberGroups.nodes.map(
      ({ name, members: { totalCount, nodes, pageInfo } }: Json) => [
        name,
        totalCount,
        nodes.map(({ username }: Json) => username),
        pageInfo.hasNextPage,
      ],
    );
    expect(data.memberGroups.totalCount).toBe(3);
    expect(shown).toEqual([
      ['A', 1, ['x'], false],
      ['B', 2, ['x', 'y'], false],
      ['C', 3, ['x', 'y'], true],
    ]);
    const uncounted = query.replaceAll('totalCount', '__typename');
    expect(await countStatements(() => mine.ask(uncounted))).toBe(2);

    const after = data.memberGroups.nodes[2].members.pageInfo.endCursor;
    const rest = await mine.ask(
      `query ($id: ID!, $after: String) { memberGroup(id: $id) { ${GROUP_FIELDS}
        members(first: 2, after: $after) { nodes { username } pageInfo { hasPreviousPage hasNextPage } } } }`,
      { id: ids[2], after },
    );
    expect(rest.data.memberGroup.members).toEqual({
      nodes: [{ username: 'z' }],
      pageInfo: { hasPreviousPage: true, hasNextPage: false },
    });
    const newest = await mine.ask(
      '{ memberGroups(order: NEWEST_FIRST, first: 1) { nodes { id } } }',
    );
    expect(newest.data.memberGroups.nodes).toEqual([{ id: ids[2] }]);
  });

  it("are NOT_FOUND for an unknown group and another brand's, BAD_USER_INPUT for no UUID", async () => {
    const { memberGroup } = await communityOf(other).createGroup({ name: 'Theirs' });
    for (const [id, code] of [
      [randomUUID(), 'NOT_FOUND'],
      [memberGroup.id, 'NOT_FOUND'],
      ['x', 'BAD_USER_INPUT'],
    ]) {
      const { data, errors } = await brand.ask(`{ memberGroup(id: "${id}") { id } }`);
      expect([data.memberGroup, errors?.[0]?.extensions.code]).toEqual([null, code]);
    }
  });
});
