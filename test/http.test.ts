import { once } from 'node:events';
import { connect } from 'node:net';

import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import { catalogueOf, productInput } from './support/catalogue.ts';
import { createClient, createRawClient, type RawClient } from './support/client.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
let brand: TestBrand;
let send: RawClient['send'];
let post: RawClient['post'];

beforeAll(async () => {
  gateway = await startTestGateway();
  brand = await gateway.createBrand();
  ({ send, post } = createRawClient(gateway.url, brand.token));
});
afterAll(() => gateway?.close());

describe('a gateway that listens on every address', () => {
  it('warns that magic links lead to none that anybody could reach, unless PUBLIC_URL is set', async () => {
    const warnings = async (overrides: object) => {
      const everywhere = await startTestGateway({ host: '0.0.0.0', ...overrides });
      await everywhere.close();
      return everywhere.logLines.filter(({ msg }) => String(msg).includes('PUBLIC_URL')).length;
    };
    expect(await warnings({})).toBe(1);
    expect(await warnings({ publicUrl: 'https://gateway.example' })).toBe(0);
  });
});

describe('GraphQL over HTTP', () => {
  const audits = serverAudits({
    url: () => `${gateway.url}/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, {
        ...init,
        headers: { ...(init.headers as object), authorization: `Bearer ${brand.token}` },
      }),
  });

  it.each(audits.filter(({ name }) => !name.startsWith('MAY')))('$id: $name', async (audit) => {
    const result = await audit.fn();
    expect(result.status, 'reason' in result ? result.reason : '').toBe('ok');
  });

  it('answers queries by GET, and refuses mutations there', async () => {
    const ok = await send(`/graphql?query=${encodeURIComponent('{ brand { name } }')}`);
    expect([ok.status, await ok.json()]).toEqual([200, { data: { brand: { name: 'A brand' } } }]);
    const input =
      '{ storeId: "get", title: "x", description: "", onlineStoreUrl: "https://x.example" }';
    const refused = await send(
      `/graphql?query=${encodeURIComponent(`mutation { createProduct(input: ${input}) { userErrors { code } } }`)}`,
    );
    expect(refused.status).toBe(405);
    expect((await catalogueOf(brand).readAll()).products.totalCount).toBe(0);
  });

  it.each([
    ['text/plain', '{ brand { name } }'],
    ['application/x-www-form-urlencoded', 'query=%7Bbrand%7Bname%7D%7D'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['application/graphql', '{ brand { name } }'],
    ['', '{"query":"{ brand { name } }"}'],
  ])('answers 415 to a body of the type %j', async (type, body) => {
    expect((await post(body, { 'content-type': type })).status).toBe(415);
  });

  it.each([
    ['no JSON', '{"query":'],
    ['JSON that is no object', '"{ brand { name } }"'],
    ['null', 'null'],
    ['no query', '{}'],
    ['a query that is no text', '{"query":1}'],
    ['variables that are no object', '{"query":"{ brand { name } }","variables":[1]}'],
    ['a batch', '[{"query":"{ brand { name } }"}]'],
    ['an unknown parameter', '{"query":"{ brand { name } }","extra":1}'],
  ])('answers 400 BAD_USER_INPUT to %s', async (_what, body) => {
    const response = await post(body, { accept: 'application/graphql-response+json' });
    const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
    expect([response.status, errors[0]?.extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
  });

  it('answers 413 to a body of more than 32 MiB', async () => {
    const response = await post(
      JSON.stringify({ query: '{ brand { name } }', variables: { x: 'x'.repeat(33 * 2 ** 20) } }),
    );
    expect(response.status).toBe(413);
  });

  it('answers 404 to other paths, and sends the root to /graphql', async () => {
    expect((await send('/nothing')).status).toBe(404);
    expect((await send('/graphql/more')).status).toBe(404);
    const root = await send('/', { redirect: 'manual' });
    expect([root.status, root.headers.get('location')]).toEqual([302, '/graphql']);
  });

  it('gives every origin an answer to its preflight, without a key, and never credentials', async () => {
    const preflight = await fetch(`${gateway.url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('credentials', () => {
  it.each([
    ['none', {}],
    ['a wrong key', { authorization: 'Bearer cgw_sk_wrong' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a key without its scheme', { authorization: 'cgw_sk_wrong' }],
    ['an empty key', { authorization: 'Bearer ' }],
  ])('answers 401 UNAUTHENTICATED without data to %s', async (_what, headers) => {
    const client = createClient(`${gateway.url}/graphql`);
    for (const query of [
      '{ brand { name } }',
      '{ __schema { queryType { name } } }',
      '{ nonsense',
    ]) {
      const { status, data, errors, headers: sent } = await client.ask(query, {}, headers);
      expect([status, data, errors?.[0]?.extensions.code]).toEqual([
        401,
        undefined,
        'UNAUTHENTICATED',
      ]);
      expect(sent.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('refuses before it reads a body', async () => {
    const { port } = new URL(gateway.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 30000000\r\n\r\n{',
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it('takes the scheme in any case', async () => {
    const client = createClient(`${gateway.url}/graphql`);
    const { status } = await client.ask(
      '{ brand { name } }',
      {},
      { authorization: `bearer ${brand.token}` },
    );
    expect(status).toBe(200);
  });
});

describe('request ids, the log and masking', () => {
  it("answers with the caller's request id, or a new one where it is not fit", async () => {
    expect((await post('{}', { 'x-request-id': 'abc-1' })).headers.get('x-request-id')).toBe(
      'abc-1',
    );
    for (const unfit of ['', 'with space', 'x'.repeat(129)]) {
      const id = (await post('{}', { 'x-request-id': unfit })).headers.get('x-request-id');
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('logs one line a request, without keys', async () => {
    await brand.ask(
      'query Named { product(storeId: "no") { id } }',
      {},
      { 'x-request-id': 'logged-1' },
    );
    await vi.waitFor(() => {
      const lines = gateway.logLines.filter(({ requestId }) => requestId === 'logged-1');
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({
        method: 'POST',
        path: '/graphql',
        status: 200,
        durationMs: expect.any(Number),
        brandId: brand.id,
        apiKeyPrefix: brand.token.slice(0, 15),
        operationName: 'Named',
        errorCodes: ['NOT_FOUND'],
      });
    });
    expect(JSON.stringify(gateway.logLines)).not.toContain(brand.token);
  });

  it('masks what is unexpected, and logs it under the request id', async () => {
    const { GraphQLObjectType } = await import('graphql');
    const { brandSchema } = await import('../src/graphql/schema.ts');
    const field = (
      brandSchema.getType('Brand') as InstanceType<typeof GraphQLObjectType>
    ).getFields().name!;
    const { resolve } = field;
    field.resolve = () => {
      throw new Error('password=hunter2 at /srv/secret.ts');
    };
    try {
      const { status, data, errors } = await brand.ask(
        '{ brand { name } }',
        {},
        { 'x-request-id': 'broken-1' },
      );
      expect([status, data]).toEqual([200, null]);
      expect(errors).toHaveLength(1);
      expect(errors?.[0]?.extensions).toEqual({
        code: 'INTERNAL_SERVER_ERROR',
        requestId: 'broken-1',
      });
      expect(JSON.stringify(errors)).not.toMatch(/hunter2|secret/);
    } finally {
      field.resolve = resolve;
    }
    const line = gateway.logLines.find((entry) => entry.requestId === 'broken-1' && entry.err);
    expect(JSON.stringify(line)).toContain('hunter2');
  });

  it('forgets what it has read once a mutation has written', async () => {
    const { product } = await catalogueOf(brand).createProduct(productInput('fresh'));
    await catalogueOf(brand).createVariant({
      storeId: 'fresh-1',
      productStoreId: 'fresh',
      title: 'x',
      position: 1,
    });
    const { data } = await brand.ask(
      `mutation ($id: ID!) {
        a: updateProduct(input: { id: $id, title: "One" }) { product { variants { nodes { product { title } } } } }
        b: updateProduct(input: { id: $id, title: "Two" }) { product { variants { nodes { product { title } } } } }
      }`,
      { id: product.id },
    );
    const titleIn = (field: 'a' | 'b') => data[field].product.variants.nodes[0].product.title;
    expect([titleIn('a'), titleIn('b')]).toEqual(['One', 'Two']);
  });
});
