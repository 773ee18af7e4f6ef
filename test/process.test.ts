import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';

import { openDatabase } from '../src/database/database.ts';
import { createBrand } from './support/brand.ts';
import { catalogueOf, productInput, variantInput } from './support/catalogue.ts';
import { createClient, type Json } from './support/client.ts';
import {
  activity,
  applicationOf,
  communityOf,
  memberInput,
  postInput,
} from './support/community.ts';
import { makeDatabase, PLATFORM_KEY } from './support/gateway.ts';
import { failToStart, type GatewayProcess, startProcess } from './support/process.ts';

const isEmbedded = inject('database').kind === 'embedded';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function database(options?: { isEmpty: boolean }) {
  const made = await makeDatabase(options);
  cleanUps.push(() => made.remove());
  return made.environment;
}

async function start(environment: Record<string, string>): Promise<GatewayProcess> {
  const gateway = await startProcess(environment);
  cleanUps.push(() => gateway.stop('SIGKILL'));
  return gateway;
}

const platformOf = ({ url }: GatewayProcess) => createClient(`${url}/platform`, PLATFORM_KEY);

describe('starting', () => {
  it('finds everything again after SIGTERM and after SIGKILL', async () => {
    const environment = await database({ isEmpty: true });
    const first = await start(environment);
    const { token } = await createBrand(first.url, platformOf(first), 'Kept');
    expect(await first.stop('SIGTERM')).toBe(0);
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const next = await start(environment);
      const { data } = await createClient(`${next.url}/graphql`, token).ask('{ brand { name } }');
      expect(data.brand.name).toBe('Kept');
      await next.stop(signal);
    }
  });

  it('says what is wrong with the configuration, and exits with 1', async () => {
    const environment = await database();
    const { code, message } = await failToStart({
      ...environment,
      PORT: 'x',
      PLATFORM_KEY: 'short',
    });
    expect(code).toBe(1);
    expect(message).toMatch(
      /^The configuration is wrong:\n {2}PORT must be .*\n {2}PLATFORM_KEY must be .*\n$/,
    );
  });

  it('says that the port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    cleanUps.push(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, message } = await failToStart({ ...(await database()), PORT: String(port) });
    expect([code, message]).toEqual([
      1,
      `Cannot listen on http://127.0.0.1:${port}: the port is in use; set PORT to another.\n`,
    ]);
  });

  it('ends by a SIGTERM to npm, and lets the next one start', async () => {
    const environment = await database();
    for (let starts = 0; starts < 2; starts++) {
      const npm = await startProcess(environment, ['npm', 'start']);
      cleanUps.push(() => npm.stop('SIGKILL'));
      await npm.stop('SIGTERM');
      await vi.waitFor(() => expect(fetch(npm.url)).rejects.toThrow(/fetch failed/), 15_000);
    }
  });

  it('finishes the request that is running when it is told to stop', async () => {
    const gateway = await start(await database());
    const brand = await createBrand(gateway.url, platformOf(gateway), 'A brand');
    const records = Array.from({ length: 100 }, (_, index) => productInput(`p${index}`));
    const answer = catalogueOf(brand).bulkProducts({ upsertRecords: records });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await gateway.stop('SIGTERM')).toBe(0);
    expect((await answer).success).toBe(true);
  });
});

describe('stopping', () => {
  it('answers what is running, and gives no connection a next request', async () => {
    const gateway = await start(await database());
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const failures: unknown[] = [];
    const state = { hasStopped: false };
    const clients = Array.from({ length: 8 }, async () => {
      while (!state.hasStopped) {
        // A new connection may be refused by then; a request that was sent must be answered.
        const answer = await ask(gateway.url, agent);
        if (answer === 'refused') return;
        if (answer !== 401) failures.push(answer);
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const stoppedAt = performance.now();
    expect(await gateway.stop('SIGTERM')).toBe(0);
    state.hasStopped = true;
    expect(performance.now() - stoppedAt).toBeLessThan(5000);
    await Promise.all(clients);
    expect(failures).toEqual([]);
    agent.destroy();
  });
});

/** The status of an answer, or what became of the request instead. */
function ask(url: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(`${url}/graphql`, { agent, method: 'POST' }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const isUnused = error.code === 'ECONNREFUSED' || sent.reusedSocket;
      resolve(isUnused ? 'refused' : String(error.code));
    });
    sent.end();
  });
}

describe('bulk loading that is killed', () => {
  it('keeps every acknowledged batch, and no half of one', async () => {
    const environment = await database();
    let gateway = await start(environment);
    const brand = await createBrand(gateway.url, platformOf(gateway), 'A brand');
    const acknowledged = new Set<string>();
    let batch = 0;
    for (let round = 0; round < 3; round++) {
      const client = createClient(`${gateway.url}/graphql`, brand.token);
      const killAfterMs = 150 + round * 70;
      setTimeout(() => gateway.process.kill('SIGKILL'), killAfterMs);
      try {
        while (true) {
          const name = `b${batch++}`;
          const records = Array.from({ length: 100 }, (_, index) =>
            productInput(`${name}-${index}`),
          );
          const { success } = await catalogueOf(client).bulkProducts({ upsertRecords: records });
          if (success) acknowledged.add(name);
        }
      } catch {
        // The connection broke with the process.
      }
      gateway = await start(environment);
    }
    expect(acknowledged.size).toBeGreaterThan(0);
    const found = await readBatches(createClient(`${gateway.url}/graphql`, brand.token));
    const halves = [...found].filter(([, count]) => count !== 100);
    const lost = [...acknowledged].filter((name) => !found.has(name));
    expect({ halves, lost }).toEqual({ halves: [], lost: [] });
  });
});

/** How many records of each batch there are. */
async function readBatches(client: ReturnType<typeof createClient>): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let after = '';
  while (true) {
    const { data } = await client.ask(
      `{ products(first: 100 ${after}) { nodes { storeId } pageInfo { hasNextPage endCursor } } }`,
    );
    for (const { storeId } of data.products.nodes as Json[]) {
      const name = storeId.split('-')[0];
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (!data.products.pageInfo.hasNextPage) return counts;
    after = `, after: "${data.products.pageInfo.endCursor}"`;
  }
}

const DEMO_COMMUNITY = `{
  members { totalCount } posts { totalCount }
  memberGroups { nodes { name brandMemberBadge { name } members { nodes { username } } } }
}`;

describe.runIf(isEmbedded)('the embedded kind', () => {
  it('makes a demo and prints addresses, keys and a line that works when pasted, at every start', async () => {
    const { DATA_DIR = '', PORT = '' } = await database({ isEmpty: true });
    const keys = [];
    for (let starts = 0; starts < 2; starts++) {
      const gateway = await start({ DATA_DIR, PORT });
      const printed = await vi.waitFor(() => {
        expect(gateway.readOutput()).toContain('curl');
        return gateway.readOutput();
      });
      expect(printed).toContain(`${gateway.url}/graphql`);
      const demoKey = /Demo key +(\S+)/.exec(printed)?.[1];
      const platformKey = /Platform key +(\S+)/.exec(printed)?.[1];
      keys.push([demoKey, platformKey]);
      for (const [name, key] of [
        ['demo-key', demoKey],
        ['platform-key', platformKey],
      ] as const) {
        expect(readFileSync(join(DATA_DIR, name), 'utf8').trim()).toBe(key);
        expect(statSync(join(DATA_DIR, name)).mode & 0o777).toBe(0o600);
      }
      const curl = /^ *(curl .*)$/m.exec(printed)?.[1] ?? '';
      const { stdout } = await promisify(execFile)('sh', ['-c', curl]);
      const { brand, products } = JSON.parse(stdout).data;
      expect([brand.name, products.nodes.length]).toEqual(['Alder & Pine', 3]);
      const brands = await createClient(`${gateway.url}/platform`, platformKey).ask(
        '{ brands { nodes { name } } }',
      );
      expect(brands.data.brands.nodes).toEqual([{ name: 'Alder & Pine' }]);
      const { data } = await createClient(`${gateway.url}/graphql`, demoKey).ask(DEMO_COMMUNITY);
      expect([data.members.totalCount, data.posts.totalCount]).toEqual([12, 10]);
      expect(data.memberGroups.nodes[0]).toEqual({
        name: 'Trail Guides',
        brandMemberBadge: { name: 'Guide' },
        members: { nodes: ['linnea', 'amara', 'ravi'].map((username) => ({ username })) },
      });
      await gateway.stop();
    }
    expect(keys[0]).toEqual(keys[1]);
  });

  it('gives the demo brand that is there another key when its own is lost', async () => {
    const { DATA_DIR = '', PORT = '' } = await database({ isEmpty: true });
    const first = await start({ DATA_DIR, PORT });
    const firstKey = readFileSync(join(DATA_DIR, 'demo-key'), 'utf8').trim();
    const catalogue = catalogueOf(createClient(`${first.url}/graphql`, firstKey));
    await catalogue.bulkProducts({
      upsertRecords: [productInput('lamp', { title: 'Mine' })],
      deleteRecords: ['socks'],
    });
    await first.stop();
    // As if the first start had been killed before it put members into groups.
    const opened = await openDatabase({ kind: 'embedded', dataDir: join(DATA_DIR, 'database') });
    await opened.em.execute('delete from group_membership');
    await opened.em.execute("delete from member_group where name = 'Newsletter'");
    await opened.close();
    rmSync(join(DATA_DIR, 'demo-key'));
    const second = await start({ DATA_DIR, PORT });
    const key = readFileSync(join(DATA_DIR, 'platform-key'), 'utf8').trim();
    const { data } = await createClient(`${second.url}/platform`, key).ask(
      '{ brands { nodes { name } } }',
    );
    expect(data.brands.nodes).toEqual([{ name: 'Alder & Pine' }]);
    const demo = createClient(
      `${second.url}/graphql`,
      readFileSync(join(DATA_DIR, 'demo-key'), 'utf8').trim(),
    );
    const answer = await demo.ask('{ products { totalCount } product(storeId: "lamp") { title } }');
    expect(answer.data).toEqual({ products: { totalCount: 13 }, product: { title: 'Mine' } });
    const { data: community } = await demo.ask(DEMO_COMMUNITY);
    expect([community.members.totalCount, community.posts.totalCount]).toEqual([12, 10]);
    const sizes = community.memberGroups.nodes.map(({ name, members }: Json) => [
      name,
      members.nodes.length,
    ]);
    expect(sizes).toEqual([
      ['Trail Guides', 3],
      ['Gear Testers', 4],
      ['Newsletter', 5],
    ]);
  });

  it("refuses MikroORM's command line beside it, which would destroy its database", async () => {
    const environment = await database();
    await start(environment);
    const command = promisify(execFile)('npm', ['run', 'orm', '--', 'migration:pending'], {
      env: { ...process.env, DATA_DIR: environment.DATA_DIR },
    });
    await expect(command).rejects.toThrow(/in use by another process/);
  });

  it('says when a key that it keeps is none', async () => {
    const { DATA_DIR = '', PORT = '' } = await database();
    writeFileSync(join(DATA_DIR, 'platform-key'), 'short');
    const { code, message } = await failToStart({ DATA_DIR, PORT });
    expect([code, message]).toEqual([
      1,
      expect.stringContaining('platform-key must hold 32 to 256 printable characters'),
    ]);
  });

  it('makes no demo when DEMO is off', async () => {
    const gateway = await start(await database({ isEmpty: true }));
    expect(gateway.readOutput()).not.toContain('Demo key');
    const { data } = await platformOf(gateway).ask('{ brands { nodes { name } } }');
    expect(data.brands.nodes).toEqual([]);
  });

  it('refuses a second process on its DATA_DIR at once, and goes on itself', async () => {
    const environment = await database();
    const gateway = await start(environment);
    const { code, message } = await failToStart(environment);
    expect(code).toBe(1);
    expect(message).toContain(`DATA_DIR ${environment.DATA_DIR} is in use by another process`);
    expect((await platformOf(gateway).ask('{ brands { nodes { id } } }')).status).toBe(200);
  });
});

async function startTwo(fields: object = {}) {
  const environment = await database();
  const replicas = await Promise.all([1, 2].map(() => start(environment)));
  const brand = await createBrand(replicas[0]!.url, platformOf(replicas[0]!), 'Shared', fields);
  return { environment, replicas, brand };
}

/** A number that the database is asked for. */
async function readNumber({ DATABASE_URL }: Record<string, string>, sql: string): Promise<number> {
  const client = new Client({ connectionString: DATABASE_URL });
  await client.connect();
  const { rows } = await client.query(`select (${sql})::int as number`);
  await client.end();
  return rows[0].number as number;
}

const DEADLOCKS = 'select deadlocks from pg_stat_database where datname = current_database()';

describe.runIf(!isEmbedded)('replicas on one PostgreSQL', () => {
  it('migrate an empty database when they start at the same moment, and serve one another’s writes', async () => {
    const environment = await database({ isEmpty: true });
    const replicas = await Promise.all([1, 2, 3].map(() => start(environment)));
    const [first, ...others] = replicas as [GatewayProcess, ...GatewayProcess[]];
    const brand = await createBrand(first.url, platformOf(first), 'Shared');
    await catalogueOf(brand).createProduct(productInput('one'));
    for (const replica of others) {
      const client = createClient(`${replica.url}/graphql`, brand.token);
      const { data } = await client.ask('{ brand { name } product(storeId: "one") { title } }');
      expect(data).toEqual({ brand: { name: 'Shared' }, product: { title: 'Product one' } });
    }
  });

  it('decide together who makes a record, and load in bulk side by side', async () => {
    const environment = await database();
    const replicas = await Promise.all([1, 2].map(() => start(environment)));
    const brand = await createBrand(replicas[0]!.url, platformOf(replicas[0]!), 'Shared');
    const catalogues = replicas.map(({ url }) =>
      catalogueOf(createClient(`${url}/graphql`, brand.token)),
    );
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        catalogues.map((c) => c.createProduct(productInput(`r${round}`))),
      );
      expect(answers.flatMap(({ userErrors }) => userErrors.map(({ code }: Json) => code))).toEqual(
        ['TAKEN'],
      );
    }
    const variants = Array.from({ length: 100 }, (_, index) =>
      variantInput(`v${index}`, `r${index % 10}`),
    );
    const answers = await Promise.all(
      catalogues.flatMap((c) => [
        c.bulkVariants({ upsertRecords: variants }),
        c.bulkVariants({ upsertRecords: variants.toReversed() }),
      ]),
    );
    const outcomes = answers.flatMap(({ results }) => results.map(({ outcome }: Json) => outcome));
    expect(outcomes.filter((outcome) => outcome === 'CREATED')).toHaveLength(100);
    expect(outcomes.filter((outcome) => outcome === 'UNCHANGED')).toHaveLength(300);
  });

  it('record each activity once, whichever of them it came to', async () => {
    const { brand, replicas } = await startTwo();
    const applications = replicas.map((replica) => applicationOf(platformOf(replica), brand.id));
    const members = Array.from({ length: 50 }, (_, n) => memberInput(`racer${n}`));
    const joined = members.map((memberJoined) => activity({ memberJoined }));
    for (let round = 0; round < 5; round++) {
      const updates = members.map(({ id }) =>
        activity({ memberUpdated: { id, lastName: `${round}` } }),
      );
      const batch = round === 0 ? joined : updates;
      const answers = await Promise.all(
        [batch, batch.toReversed(), batch].flatMap((activities) =>
          applications.map((application) => application.record(activities)),
        ),
      );
      expect(answers.flatMap(({ userErrors }) => userErrors)).toEqual([]);
      expect(answers.map(({ recordedCount }) => recordedCount).toSorted()).toEqual([
        0, 0, 0, 0, 0, 50,
      ]);
    }
  });

  it('answer TAKEN when a customAuthSub is just being given to somebody else', async () => {
    const { environment, brand, replicas } = await startTwo();
    const application = applicationOf(platformOf(replicas[0]!), brand.id);
    const client = new Client({ connectionString: environment.DATABASE_URL });
    await client.connect();
    await client.query('begin');
    await client.query(
      `insert into member (id, brand_id, username, custom_auth_sub, is_email_verified, is_banned, role)
       values (gen_random_uuid(), $1, 'first', 'sub', false, false, 'CUSTOMER')`,
      [brand.id],
    );
    const [late, other] = [memberInput('late', { customAuthSub: 'sub' }), memberInput('other')];
    const batch = [activity({ memberJoined: other }), activity({ memberJoined: late })];
    const answer = application.record(batch);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await client.query('commit');
    await client.end();
    expect(await answer).toMatchObject({
      recordedCount: 0,
      userErrors: [
        { code: 'TAKEN', field: ['activities', '1', 'what', 'memberJoined', 'customAuthSub'] },
      ],
    });
    expect(await readNumber(environment, 'select count(*) from event')).toBe(0);
    expect(await readNumber(environment, 'select count(*) from chosen_id')).toBe(0);
    expect(await readNumber(environment, 'select count(*) from member')).toBe(1);
  });

  it('record the first publication of a post once, though both are told of one', async () => {
    const { environment, brand, replicas } = await startTwo();
    const applications = replicas.map((replica) => applicationOf(platformOf(replica), brand.id));
    for (let round = 1; round <= 5; round++) {
      const posts = Array.from({ length: 50 }, () => postInput(randomUUID()));
      const drafts = posts.map((post) => ({ postSaved: { ...post, isPublished: false } }));
      await applications[0]!.mustRecord(...drafts);
      await Promise.all(
        applications.map((application) =>
          application.mustRecord(...posts.map((postSaved) => ({ postSaved }))),
        ),
      );
      const sql = `select (select count(*) from outbox where type = 'post.created')
        + (select count(*) from event where type = 'post.created')`;
      expect(await readNumber(environment, sql)).toBe(50 * round);
    }
  });

  it('make one member of many magic links for somebody new, at once and without deadlocks', async () => {
    const { environment, brand, replicas } = await startTwo({ customAuthEnabled: true });
    const communities = replicas.map(({ url }) =>
      communityOf(createClient(`${url}/graphql`, brand.token)),
    );
    const before = await readNumber(environment, DEADLOCKS);
    for (let round = 0; round < 10; round++) {
      const customAuthSub = `sub-${round}`;
      const startedAt = performance.now();
      const links = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          communities[n % 2]!.createMagicLink({ customAuthSub, phoneNumber: String(n) }),
        ),
      );
      expect(links.flatMap(({ userErrors, errors }) => userErrors ?? errors)).toEqual([]);
      expect(new Set(links.map(({ userId }) => userId)).size).toBe(1);
      // A deadlock takes a second to be seen.
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    }
    // What a backend has counted is seen at the latest when it has been idle for a second.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await readNumber(environment, DEADLOCKS)).toBe(before);
  });

  it('give an id that two brands choose at once to one of them, for whatever it is chosen', async () => {
    const { brand, replicas } = await startTwo();
    const other = await createBrand(replicas[1]!.url, platformOf(replicas[1]!), 'Other');
    const author = randomUUID();
    const post = (id: string) => activity({ postSaved: postInput(author, { id }) });
    const member = (id: string) => activity({ memberJoined: { ...memberInput(id), id } });
    for (const kinds of [
      [post, post],
      [member, member],
      [member, post],
    ]) {
      for (let round = 0; round < 8; round++) {
        const ids = Array.from({ length: 20 }, () => randomUUID() as string);
        const answers = await Promise.all(
          [brand.id, other.id].map((brandId, index) =>
            applicationOf(platformOf(replicas[index]!), brandId).record(
              ids.map((id) => kinds[index]!(id)),
            ),
          ),
        );
        const counts = answers.map(({ recordedCount }) => recordedCount);
        expect(counts.toSorted()).toEqual([0, 20]);
        const loser = answers.find(({ recordedCount }) => recordedCount === 0);
        const codes = loser.userErrors.map(({ code }: Json) => code);
        expect(codes).toEqual(Array<string>(20).fill('TAKEN'));
        const winner = counts.indexOf(20);
        const client = createClient(`${replicas[0]!.url}/graphql`, [brand, other][winner]!.token);
        const { data } = await client.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
          ids,
        });
        expect(data.nodes).toEqual(ids.map((id) => ({ id })));
      }
    }
  });

  it('say what is wrong when the database cannot be reached, without its password', async () => {
    const environment = {
      ...(await database()),
      DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/nowhere',
    };
    const { code, message } = await failToStart(environment);
    expect(code).toBe(1);
    expect(message).toMatch(
      /^The database at postgres:\/\/127\.0\.0\.1:1\/nowhere cannot be used: .*ECONNREFUSED/,
    );
    expect(message).not.toContain('hunter2');
  });

  it('need a PLATFORM_KEY', async () => {
    const { PLATFORM_KEY: _unset, ...environment } = await database();
    const { message } = await failToStart(environment);
    expect(message).toContain('PLATFORM_KEY is required with DATABASE_URL');
  });
});
