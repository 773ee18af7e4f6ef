import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient, type Json } from './support/client.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.close());

const BRAND = 'id name communityUrl customAuthEnabled magicLinkDelivery';

async function mutate(
  field: string,
  type: string,
  selection: string,
  input: object,
): Promise<Json> {
  const query = `mutation ($input: ${type}!) { ${field}(input: $input) { ${selection} userErrors { code field message } } }`;
  const { data, errors } = await gateway.platform.ask(query, { input });
  return data?.[field] ?? { errors };
}

const createBrand = (input: object) =>
  mutate('createBrand', 'CreateBrandInput', `token brand { ${BRAND} }`, input);
const updateBrand = (input: object) =>
  mutate('updateBrand', 'UpdateBrandInput', `brand { ${BRAND} }`, input);
const createApiKey = (input: object) =>
  mutate('createApiKey', 'CreatePlatformApiKeyInput', 'token', input);

const nameOf = async (token: string) => {
  const { data, status } = await createClient(`${gateway.url}/graphql`, token).ask(
    '{ brand { name } }',
  );
  return status === 200 ? data.brand.name : status;
};

describe('the platform interface', () => {
  it.each([
    ['no key', undefined],
    ['a wrong key', 'x'.repeat(36)],
    ['an empty key', ''],
  ])('answers 401 to %s', async (_what, key) => {
    const { status, data, errors } = await createClient(`${gateway.url}/platform`, key).ask(
      '{ brands { nodes { id } } }',
    );
    expect([status, data, errors?.[0]?.extensions.code]).toEqual([
      401,
      undefined,
      'UNAUTHENTICATED',
    ]);
  });

  it("answers 401 to a brand's key, and the brand's interface to the platform key", async () => {
    const brand = await gateway.createBrand();
    const asBrand = createClient(`${gateway.url}/platform`, brand.token);
    expect((await asBrand.ask('{ brands { nodes { id } } }')).status).toBe(401);
    expect(await nameOf('platform-key-of-the-tests-0123456789')).toBe(401);
  });
});

describe('createBrand', () => {
  it('makes a brand and a key that works at once, with what is left out at its default', async () => {
    const { brand, token, userErrors } = await createBrand({
      name: 'New',
      communityUrl: 'https://c.example',
    });
    expect(userErrors).toEqual([]);
    const defaults = { customAuthEnabled: false, magicLinkDelivery: 'RETURNED' };
    expect(brand).toEqual({
      id: expect.any(String),
      name: 'New',
      communityUrl: 'https://c.example',
      ...defaults,
    });
    expect(token).toMatch(/^cgw_sk_[\w-]{43}$/);
    expect(await nameOf(token)).toBe('New');
    const given = await createBrand({
      name: 'N',
      communityUrl: 'http://c.example',
      customAuthEnabled: true,
      magicLinkDelivery: 'EMAIL',
    });
    expect(given.brand).toMatchObject({ customAuthEnabled: true, magicLinkDelivery: 'EMAIL' });
  });

  it.each([
    ['an empty name', { name: '' }, 'name'],
    ['a name of 256 characters', { name: 'x'.repeat(256) }, 'name'],
    ['a relative community URL', { communityUrl: '/c' }, 'communityUrl'],
    ['a user in it', { communityUrl: 'https://user@c.example' }, 'communityUrl'],
    ['a password in it', { communityUrl: 'https://:pw@c.example' }, 'communityUrl'],
  ])('refuses %s, and makes no brand', async (_what, fields, name) => {
    const before = await gateway.platform.ask('{ brands(first: 100) { nodes { id } } }');
    const { errors } = await createBrand({
      name: 'New',
      communityUrl: 'https://c.example',
      ...fields,
    });
    expect(errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', name] }],
    });
    expect((await gateway.platform.ask('{ brands(first: 100) { nodes { id } } }')).data).toEqual(
      before.data,
    );
  });
});

describe('updateBrand', () => {
  it('changes what is given and keeps what is left out', async () => {
    const { brand, token } = await createBrand({ name: 'Old', communityUrl: 'https://c.example' });
    const answer = await updateBrand({ id: brand.id, name: 'Renamed', customAuthEnabled: true });
    expect(answer).toEqual({
      brand: { ...brand, name: 'Renamed', customAuthEnabled: true },
      userErrors: [],
    });
    expect(await nameOf(token)).toBe('Renamed');
  });

  it('refuses null and an unknown id, and changes nothing', async () => {
    const { brand } = await createBrand({ name: 'Old', communityUrl: 'https://c.example' });
    for (const name of ['name', 'communityUrl', 'customAuthEnabled', 'magicLinkDelivery']) {
      const { errors } = await updateBrand({ id: brand.id, [name]: null });
      expect(errors[0].extensions.issues[0].path).toEqual(['input', name]);
    }
    const unknown = await updateBrand({ id: randomUUID(), name: 'x' });
    expect(unknown).toMatchObject({
      brand: null,
      userErrors: [{ code: 'NOT_FOUND', field: ['id'] }],
    });
    const { data } = await gateway.platform.ask(
      `query ($id: ID!) { brand(id: $id) { ${BRAND} } }`,
      { id: brand.id },
    );
    expect(data.brand).toEqual(brand);
  });
});

describe('createApiKey', () => {
  it('makes another key, and the first goes on working', async () => {
    const { brand, token } = await createBrand({
      name: 'Two keys',
      communityUrl: 'https://c.example',
    });
    const second = await createApiKey({ brandId: brand.id, name: 'Second' });
    expect(second.userErrors).toEqual([]);
    expect(second.token).not.toBe(token);
    expect([await nameOf(token), await nameOf(second.token)]).toEqual(['Two keys', 'Two keys']);
  });

  it('answers NOT_FOUND for an unknown brand, and makes no key', async () => {
    const answer = await createApiKey({ brandId: randomUUID(), name: 'x' });
    expect(answer).toMatchObject({
      token: null,
      userErrors: [{ code: 'NOT_FOUND', field: ['brandId'] }],
    });
  });
});

describe('brand and brands', () => {
  it('give every brand once, the oldest first', async () => {
    for (let index = 0; index < 5; index++) await gateway.createBrand(`Brand ${index}`);
    const all = (await gateway.platform.ask('{ brands(first: 100) { nodes { id name } } }')).data
      .brands.nodes;
    const seen = [];
    let after = '';
    while (true) {
      const { data } = await gateway.platform.ask(
        `{ brands(first: 2 ${after}) { nodes { id name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
      );
      const { nodes, pageInfo } = data.brands;
      expect(pageInfo.hasPreviousPage).toBe(seen.length > 0);
      seen.push(...nodes);
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }
    expect(seen).toEqual(all);
    expect(seen.slice(-5).map(({ name }: Json) => name)).toEqual(
      [0, 1, 2, 3, 4].map((n) => `Brand ${n}`),
    );
  });

  it('refuse bad pages, bad ids and unknown ones', async () => {
    for (const args of ['first: 0', 'first: 101', 'after: "x"']) {
      const { errors } = await gateway.platform.ask(`{ brands(${args}) { nodes { id } } }`);
      expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    }
    const bad = await gateway.platform.ask('{ brand(id: "x") { id } }');
    expect(bad.errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['id'] }],
    });
    const unknown = await gateway.platform.ask(`{ brand(id: "${randomUUID()}") { id } }`);
    expect([unknown.data.brand, unknown.errors?.[0]?.extensions.code]).toEqual([null, 'NOT_FOUND']);
  });
});
