import { once } from 'node:events';
import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import { createRawClient, type RawClient } from './support/client.ts';
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

describe('hostile requests', () => {
  const badInput = async (response: Response, status: number) => {
    const { errors } = (await response.json()) as {
      errors: { message: string; extensions: { code: string; issues: unknown[] } }[];
    };
    expect([response.status, errors[0]?.extensions.code]).toEqual([status, 'BAD_USER_INPUT']);
    return errors[0]!;
  };
  const precise = { accept: 'application/graphql-response+json' };

  it.each(['[', 'a b', '%', '@', 'evil:99999', '<>', 'http://'])(
    'gets 400 for the Host %j, and nothing internal',
    async (host) => {
      for (const method of ['GET', 'POST']) {
        const answer = await sendRaw(
          `${method} /graphql HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
        );
        expect(answer).toMatch(/^HTTP\/1\.1 400 /);
        expect(answer).not.toMatch(/node_modules|TypeError/);
      }
    },
  );

  it('may name the whole address in its request line', async () => {
    const answer = await sendRaw(
      'GET http://localhost/graphql?query={__typename} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    const bare = await sendRaw(
      'GET http://localhost?x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    );
    expect(bare).toMatch(/^HTTP\/1\.1 302 /);
  });

  it('gets 400 for JSON in the URL that is none, and for an operation name that is no text', async () => {
    for (const parameter of ['variables={', 'variables=%ff', 'extensions=[']) {
      await badInput(await send(`/graphql?query={__typename}&${parameter}`), 400);
    }
    for (const operationName of [1, true, {}]) {
      await badInput(
        await post(JSON.stringify({ query: '{ __typename }', operationName }), precise),
        400,
      );
    }
  });

  it('gets 400 for a document that is nested beyond the stack', async () => {
    const deep = `${'{a'.repeat(100_000)}${'}'.repeat(100_000)}`;
    for (const query of [
      deep,
      `{ node(id: ${'['.repeat(100_000)}${']'.repeat(100_000)}) { id } }`,
    ]) {
      await badInput(await post(JSON.stringify({ query }), precise), 400);
    }
  });

  it('gets 400 for bytes that are no UTF-8, and 415 for another charset', async () => {
    const bytes = Buffer.from('{"query":"{ product(storeId: \\"bad\xff\\") { id } }"}', 'latin1');
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: bytes };
    await badInput(await send('/graphql', init), 400);
    await badInput(await post('{}', { 'content-type': 'application/json; charset=utf-16' }), 415);
    expect(
      (
        await post('{"query":"{ __typename }"}', {
          'content-type': 'APPLICATION/JSON; Charset=UTF-8',
        })
      ).status,
    ).toBe(200);
  });

  it('is told of at most 50 faults, and keeps nobody waiting', async () => {
    const aliases = Array.from({ length: 500 }, (_, index) => `a${index}: nodes(ids: $ids) { id }`);
    const startedAt = performance.now();
    const many = {
      query: `query ($ids: [ID!]!) { ${aliases.join(' ')} }`,
      variables: { ids: Array(100_000).fill(null) },
    };
    const { extensions } = await badInput(await post(JSON.stringify(many), precise), 400);
    expect(extensions.issues).toHaveLength(50);
    const records = { input: { upsertRecords: Array(50_000).fill(1) } };
    const bulk =
      'mutation ($input: BulkProductsInput!) { bulkProducts(input: $input) { success } }';
    await badInput(await post(JSON.stringify({ query: bulk, variables: records }), precise), 400);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it.each(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00'])(
    'gets BAD_USER_INPUT for the instant %s',
    async (instant) => {
      const { errors } = await brand.ask(
        `{ products(updatedAfter: "${instant}") { nodes { id } } }`,
      );
      expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
      const after = Buffer.from(`product,${instant},${brand.id}`).toString('base64url');
      const paged = await brand.ask(`{ products(after: "${after}") { nodes { id } } }`);
      expect(paged.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    },
  );
});

/** Sends bytes as they are, and gives the answer once the server has closed. */
async function sendRaw(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return answer;
}
