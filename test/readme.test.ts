import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { MikroORM } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type GraphQLSchema, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readConfig } from '../src/config.ts';
import { ormOptions } from '../src/database/orm.ts';
import { DEMO_BRAND, DEMO_PRODUCTS, DEMO_VARIANTS } from '../src/demo/catalogue.ts';
import { fillCommunity } from '../src/demo/service.ts';
import { brandSchema } from '../src/graphql/schema.ts';
import { createLog } from '../src/log.ts';
import { platformSchema } from '../src/platform/schema.ts';
import { startGateway } from '../src/server.ts';
import { createBrand } from './support/brand.ts';
import { catalogueOf } from './support/catalogue.ts';
import { createClient, type GraphqlClient, type Json } from './support/client.ts';
import { makeDatabase, PLATFORM_KEY } from './support/gateway.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const blocksOf = (language: string) =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, text = '']) => text,
  );

const cleanUps: (() => Promise<unknown>)[] = [];
let url: string;
/** A folder as the reader's, with the keys in .data. */
let folder: string;
let brand: GraphqlClient;
let platform: GraphqlClient;
/** What stands in the examples for ids of the reader's. */
let placeholders: Record<string, string>;

beforeAll(async () => {
  const { environment, folder: ownFolder, remove } = await makeDatabase();
  cleanUps.push(remove);
  folder = ownFolder;
  const log = createLog('silent');
  const config = readConfig({ ...environment, DEMO: 'on' });
  const gateway = await startGateway(config, log);
  cleanUps.push(() => gateway.close());
  ({ url } = gateway);
  platform = createClient(`${url}/platform`, PLATFORM_KEY);
  const key = gateway.demoKey ?? (await makeDemo(environment.DATABASE_URL!));
  brand = createClient(`${url}/graphql`, key);
  mkdirSync(join(folder, '.data'), { recursive: true });
  writeFileSync(join(folder, '.data/demo-key'), key);
  writeFileSync(join(folder, '.data/platform-key'), PLATFORM_KEY);

  const { data } = await brand.ask(`{
    brand { id } members { nodes { id } } memberGroups { nodes { id } } posts { nodes { id roomId } }
    products { nodes { id variants { nodes { id } } } }
  }`);
  const [post] = data.posts.nodes;
  placeholders = {
    BRAND_ID: data.brand.id,
    MEMBER_ID: data.members.nodes[0].id,
    GROUP_ID: data.memberGroups.nodes[0].id,
    POST_ID: post.id,
    ROOM_ID: post.roomId,
    PRODUCT_ID: data.products.nodes[0].id,
    VARIANT_ID: data.products.nodes[0].variants.nodes[0].id,
  };
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

/** On PostgreSQL there is no demo; the same brand, by the same services, makes the same examples. */
async function makeDemo(databaseUrl: string): Promise<string> {
  const { name, ...fields } = DEMO_BRAND;
  const demo = await createBrand(url, platform, name, fields);
  await catalogueOf(demo).bulkProducts({ upsertRecords: DEMO_PRODUCTS });
  await catalogueOf(demo).bulkVariants({ upsertRecords: DEMO_VARIANTS });
  const orm = await MikroORM.init(ormOptions({ kind: 'postgresql', url: databaseUrl }));
  await fillCommunity(orm.em as EntityManager, { ...DEMO_BRAND, id: demo.id });
  await orm.close(true);
  return demo.token;
}

/** Every field `userErrors` of an answer. */
function userErrorsOf(answer: Json): Json[] {
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.entries(answer).flatMap(([name, value]) =>
    name === 'userErrors' ? (value as Json[]) : userErrorsOf(value),
  );
}

/** The fields of Query and Mutation that some examples ask. */
function operationsOf(schema: GraphQLSchema, examples: string[]): string[] {
  const names = new Set<string>();
  for (const example of examples) {
    const types = new TypeInfo(schema);
    const enter = () => {
      const parent = types.getParentType()?.name ?? '';
      const field = types.getFieldDef()?.name;
      if (field && ['Query', 'Mutation'].includes(parent)) names.add(`${parent}.${field}`);
    };
    visit(parse(example), visitWithTypeInfo(types, { Field: { enter } }));
  }
  return [...names].toSorted();
}

const fieldsOf = (schema: GraphQLSchema) =>
  [schema.getQueryType(), schema.getMutationType()]
    .flatMap((type) =>
      Object.keys(type?.getFields() ?? {}).map((field) => `${type?.name}.${field}`),
    )
    .toSorted();

describe("README.md's examples", () => {
  const examples = blocksOf('graphql');
  const isPlatform = (example: string) => /brands|createApiKey/.test(example);
  const commands = blocksOf('sh').filter((block) => block.includes('curl'));

  it('are commands that work in the order given', async () => {
    expect(commands.length).toBeGreaterThanOrEqual(5);
    const script = commands.map((command) => `${command}\necho\n`).join('');
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-euc', script.replaceAll('http://localhost:4000', url)],
      { cwd: folder },
    );
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers).toHaveLength(commands.length);
    for (const answer of answers) {
      expect(answer.errors).toBeUndefined();
      expect(userErrorsOf(answer.data)).toEqual([]);
    }
    // What the README says they answer, laid out.
    const shown = blocksOf('json').map((text) => JSON.parse(text));
    expect(answers.slice(0, 2)).toEqual(shown.slice(0, 2));
    const told = /`(\{"data":\{"recordActivity".*?\})`/.exec(README)?.[1] ?? '';
    expect(answers).toContainEqual(JSON.parse(told));
  });

  it.each(examples.map((example) => [/\w+ (\w+)/.exec(example)?.[1] ?? '', example]))(
    'work as they stand: %s',
    async (_name, example) => {
      const query = example.replace(/"([A-Z_]+)"/g, (text, name: string) =>
        placeholders[name] ? `"${placeholders[name]}"` : text,
      );
      const client = isPlatform(example) ? platform : brand;
      const { data, errors } = await client.ask(query, {});
      expect(errors).toBeUndefined();
      expect(userErrorsOf(data)).toEqual([]);
      expect(Object.values(data)).not.toContain(null);
    },
  );

  it('leave no operation out', () => {
    // The commands' queries too, which stand in JSON.
    const inCommands = commands.flatMap((command) =>
      [...command.matchAll(/"query": ?"([^"\\]*(?:\\.[^"\\]*)*)"/g)].map(
        ([, text]) => JSON.parse(`"${text}"`) as string,
      ),
    );
    const all = [...examples, ...inCommands];
    expect(operationsOf(brandSchema, all)).toEqual(fieldsOf(brandSchema));
    expect(operationsOf(platformSchema, all)).toEqual(fieldsOf(platformSchema));
  });
});
