import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import { catalogueOf, productInput, variantInput } from './support/catalogue.ts';
import type { Json } from './support/client.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { exportShop, inBatches } from './support/shop.ts';
import { countStatements } from './support/statements.ts';

let gateway: TestGateway;
let brand: TestBrand;
let catalogue: ReturnType<typeof catalogueOf>;

const COUNT = 23;

beforeAll(async () => {
  gateway = await startTestGateway();
  brand = await gateway.createBrand();
  catalogue = catalogueOf(brand);
  // Half of them at one instant, where only the id tells them apart.
  const storeIds = Array.from({ length: COUNT }, (_, index) => `p${index}`);
  await catalogue.bulkProducts({
    upsertRecords: storeIds.slice(0, 12).map((id) => productInput(id)),
  });
  for (const id of storeIds.slice(12)) await catalogue.createProduct(productInput(id));
});
afterAll(() => gateway?.close());

const PAGE =
  'edges { cursor node { storeId } } nodes { storeId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';

async function page(args: string, client = brand): Promise<Json> {
  const { data, errors } = await client.ask(`{ products(${args}) { ${PAGE} } }`);
  return data?.products ?? { errors };
}

const idsOf = ({ nodes }: Json): string[] => nodes.map(({ storeId }: Json) => storeId);
const numbers = (from: number, to: number) =>
  Array.from(
    { length: Math.abs(to - from) + 1 },
    (_, index) => `p${from + index * Math.sign(to - from || 1)}`,
  );

describe('a list', () => {
  it('gives 10 records unless told, the oldest first', async () => {
    const { data } = await brand.ask(`{ products { ${PAGE} } }`);
    expect(idsOf(data.products)).toEqual(numbers(0, 9));
    expect(data.products.edges.map(({ node }: Json) => node)).toEqual(data.products.nodes);
    expect(data.products.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: data.products.edges[0].cursor,
      endCursor: data.products.edges[9].cursor,
    });
  });

  it.each([
    ['forwards', 'OLDEST_FIRST', 'first', 'after', 'endCursor', 'hasNextPage'],
    ['forwards', 'NEWEST_FIRST', 'first', 'after', 'endCursor', 'hasNextPage'],
    ['backwards', 'OLDEST_FIRST', 'last', 'before', 'startCursor', 'hasPreviousPage'],
    ['backwards', 'NEWEST_FIRST', 'last', 'before', 'startCursor', 'hasPreviousPage'],
  ])('gives every record once, %s, %s', async (direction, order, size, side, cursor, more) => {
    const seen: string[] = [];
    let from = '';
    for (let pages = 1; ; pages++) {
      const read = await page(`order: ${order}, ${size}: 5 ${from}`);
      seen[direction === 'forwards' ? 'push' : 'unshift'](...idsOf(read));
      expect(read.pageInfo.hasPreviousPage).toBe(
        read.nodes[0].storeId !== (order === 'OLDEST_FIRST' ? 'p0' : 'p22'),
      );
      expect(read.pageInfo.hasNextPage).toBe(
        read.nodes.at(-1).storeId !== (order === 'OLDEST_FIRST' ? 'p22' : 'p0'),
      );
      if (!read.pageInfo[more]) {
        expect(pages).toBe(5);
        break;
      }
      from = `${side}: "${read.pageInfo[cursor]}"`;
    }
    expect(seen).toEqual(order === 'OLDEST_FIRST' ? numbers(0, 22) : numbers(22, 0));
  });

  it('gives what lies between two cursors, from either end', async () => {
    const { edges } = await page('first: 100');
    const between = `after: "${edges[3].cursor}", before: "${edges[9].cursor}"`;
    expect(idsOf(await page(`first: 100, ${between}`))).toEqual(numbers(4, 8));
    expect(idsOf(await page(`first: 2, ${between}`))).toEqual(numbers(4, 5));
    expect(idsOf(await page(`last: 2, ${between}`))).toEqual(numbers(7, 8));
    const both = { hasNextPage: true, hasPreviousPage: true };
    for (const size of ['first: 2', 'first: 5', 'last: 2', 'last: 5']) {
      expect((await page(`${size}, ${between}`)).pageInfo).toMatchObject(both);
    }
    const whole = `after: "${edges[0].cursor}", before: "${edges[22].cursor}"`;
    expect((await page(`first: 100, ${whole}`)).pageInfo).toMatchObject(both);
  });

  it("takes a record's bare id for a cursor", async () => {
    const { data } = await brand.ask('{ products(first: 100) { nodes { id } } }');
    const { id } = data.products.nodes[4];
    expect(idsOf(await page(`first: 2, after: "${id.toUpperCase()}"`))).toEqual(numbers(5, 6));
    expect(idsOf(await page(`last: 2, before: "${id}"`))).toEqual(numbers(2, 3));
  });

  it('goes on from a cursor whose record is deleted, and says so of a bare id', async () => {
    const own = await gateway.createBrand();
    const products = ['a', 'b', 'c'].map((id) => productInput(id));
    await catalogueOf(own).bulkProducts({ upsertRecords: products });
    const { edges } = await page('first: 3', own);
    const { data } = await own.ask('{ products { nodes { id } } }');
    await catalogueOf(own).bulkProducts({ deleteRecords: ['a', 'b'] });
    const rest = await page(`first: 3, after: "${edges[1].cursor}"`, own);
    expect(idsOf(rest)).toEqual(['c']);
    expect(rest.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
    const { errors } = await page(`first: 3, after: "${data.products.nodes[1].id}"`, own);
    expect(errors[0].extensions.issues[0].path).toEqual(['after']);
  });

  it('has no cursors and no neighbours on an empty page', async () => {
    const { edges } = await page('first: 100');
    const empty = { hasNextPage: false, startCursor: null, endCursor: null };
    const end = await page(`first: 5, after: "${edges.at(-1).cursor}"`);
    expect(end).toMatchObject({
      edges: [],
      nodes: [],
      pageInfo: { ...empty, hasPreviousPage: true },
    });
    const nothing = await page('first: 5', await gateway.createBrand());
    expect(nothing).toMatchObject({
      edges: [],
      nodes: [],
      pageInfo: { ...empty, hasPreviousPage: false },
    });
  });

  it.each([
    ['first: 0', 'first'],
    ['first: 101', 'first'],
    ['first: -1', 'first'],
    ['last: 0', 'last'],
    ['last: 101', 'last'],
    ['first: 1, last: 1', 'last'],
    ['after: "x"', 'after'],
    ['after: ""', 'after'],
    ['before: "eyJhIjoxfQ"', 'before'],
    [`after: "${randomUUID()}"`, 'after'],
  ])('refuses %s at its path', async (args, name) => {
    const { errors } = await page(args);
    expect(errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: [name] }],
    });
  });

  it('takes 100, and null for left out', async () => {
    expect((await page('first: 100')).nodes).toHaveLength(COUNT);
    expect(
      (await page('first: null, last: 2, after: null, before: null, order: null')).nodes,
    ).toHaveLength(2);
  });

  it('refuses the cursor of a list of other records', async () => {
    const { pageInfo } = await page('first: 1');
    const { errors } = await brand.ask(
      `{ productVariants(after: "${pageInfo.endCursor}") { nodes { id } } }`,
    );
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['after'] }],
    });
  });

  it('refuses the cursor of a list with another order', async () => {
    await catalogue.createVariant(variantInput('v', 'p0'));
    const { data } = await brand.ask(
      '{ product(storeId: "p0") { variants { pageInfo { endCursor } } } }',
    );
    const { errors } = await page(`after: "${data.product.variants.pageInfo.endCursor}"`);
    expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  it('counts when it is asked to, and only then', async () => {
    const { data } = await brand.ask('{ products(first: 1) { totalCount } }');
    expect(data.products.totalCount).toBe(COUNT);
    expect(await countStatements(() => brand.ask('{ products(first: 1) { nodes { id } } }'))).toBe(
      1,
    );
  });

  it('gives only what was updated after an instant, strictly', async () => {
    const { data } = await brand.ask('{ products(first: 100) { nodes { id storeId updatedAt } } }');
    const { updatedAt } = data.products.nodes[20];
    const later = data.products.nodes.filter((node: Json) => node.updatedAt > updatedAt);
    expect(idsOf(await page(`first: 100, updatedAfter: "${updatedAt}"`))).toEqual(
      idsOf({ nodes: later }),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    await catalogue.updateProduct({ id: data.products.nodes[1].id, title: 'Changed' });
    const last = data.products.nodes.at(-1).updatedAt;
    expect(idsOf(await page(`first: 100, updatedAfter: "${last}"`))).toEqual(['p1']);
    const { errors } = await page('updatedAfter: "yesterday"');
    expect(errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['updatedAfter'] }],
    });
  });
});

describe('Product.variants', () => {
  let shop: TestBrand;

  beforeAll(async () => {
    shop = await gateway.createBrand();
    const own = catalogueOf(shop);
    await own.bulkProducts({
      upsertRecords: Array.from({ length: 30 }, (_, i) => productInput(`s${i}`)),
    });
    const variants = Array.from({ length: 30 }, (_, product) =>
      Array.from({ length: product % 7 }, (__, i) =>
        variantInput(`s${product}-${i}`, `s${product}`, { position: (i * 3) % 4 }),
      ),
    ).flat();
    await own.bulkVariants({ upsertRecords: variants });
  });

  it('gives each product its own, by position and then age, forwards and backwards', async () => {
    const query = (args: string) => `{ products(first: 30) { nodes { variants(${args}) {
      totalCount nodes { storeId position } pageInfo { hasNextPage hasPreviousPage } } } } }`;
    const all = (await shop.ask(query('first: 100'))).data.products.nodes;
    for (const [product, { variants }] of all.entries()) {
      const expected = Array.from({ length: product % 7 }, (_, i) => ({
        storeId: `s${product}-${i}`,
        position: (i * 3) % 4,
      }));
      expect(variants.nodes).toEqual(expected.toSorted((a, b) => a.position - b.position));
      expect(variants.totalCount).toBe(product % 7);
    }
    const firsts = (await shop.ask(query('first: 2'))).data.products.nodes;
    const lasts = (await shop.ask(query('last: 2'))).data.products.nodes;
    for (const [product, { variants }] of all.entries()) {
      const isLonger = variants.nodes.length > 2;
      expect(firsts[product].variants.nodes).toEqual(variants.nodes.slice(0, 2));
      expect(firsts[product].variants.pageInfo).toEqual({
        hasNextPage: isLonger,
        hasPreviousPage: false,
      });
      expect(lasts[product].variants.nodes).toEqual(variants.nodes.slice(-2));
      expect(lasts[product].variants.pageInfo).toEqual({
        hasNextPage: false,
        hasPreviousPage: isLonger,
      });
    }
  });

  it('goes on behind a cursor and behind a bare id', async () => {
    const { data } = await shop.ask(
      '{ product(storeId: "s6") { variants { edges { cursor node { id storeId } } } } }',
    );
    const { edges } = data.product.variants;
    for (const after of [edges[2].cursor, edges[2].node.id]) {
      const rest = await shop.ask(
        `{ product(storeId: "s6") { variants(after: "${after}") { nodes { id storeId } pageInfo { hasPreviousPage } } } }`,
      );
      expect(rest.data.product.variants.nodes).toEqual(
        edges.slice(3).map(({ node }: Json) => node),
      );
      expect(rest.data.product.variants.pageInfo.hasPreviousPage).toBe(true);
    }
  });

  it('refuses a bad page once for each product, and the products stay', async () => {
    const { data, errors } = await shop.ask(
      '{ products(first: 2) { nodes { storeId variants(first: 0) { totalCount } } } }',
    );
    expect(data.products).toBeNull();
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['first'] }],
    });
  });

  it('takes a constant number of statements, however many products there are', async () => {
    const query = (count: number) => `{ products(first: ${count}) { totalCount nodes {
      id variants(first: 2) { totalCount pageInfo { hasNextPage } nodes { id product { id storeId } } }
      others: variants(last: 1) { nodes { id } } } } }`;
    const few = await countStatements(() => shop.ask(query(2)));
    const many = await countStatements(() => shop.ask(query(30)));
    expect(many).toBe(few);
    expect(few).toBeGreaterThanOrEqual(3);
  });
});

describe('a shop that is loaded in batches of 100', () => {
  const { products, variants } = exportShop();

  it('pages back complete, once each, both ways; loading it again answers UNCHANGED', async () => {
    const shop = await gateway.createBrand('A shop');
    const own = catalogueOf(shop);
    const load = async () => {
      const outcomes = [];
      for (const batch of inBatches(products))
        outcomes.push(await own.bulkProducts({ upsertRecords: batch }));
      for (const batch of inBatches(variants))
        outcomes.push(await own.bulkVariants({ upsertRecords: batch }));
      expect(outcomes.every(({ success }) => success)).toBe(true);
      return outcomes.flatMap(({ results }) => results.map(({ outcome }: Json) => outcome));
    };
    expect(new Set(await load())).toEqual(new Set(['CREATED']));
    const [forwards, backwards] = [
      await walk(shop, 'productVariants', 'first'),
      await walk(shop, 'productVariants', 'last'),
    ];
    expect(forwards.map(({ storeId }) => storeId)).toEqual(variants.map(({ storeId }) => storeId));
    expect(backwards).toEqual(forwards);
    const loaded = await walk(shop, 'products', 'first');
    expect(loaded.map(({ storeId }) => storeId)).toEqual(products.map(({ storeId }) => storeId));
    expect(await walk(shop, 'products', 'last')).toEqual(loaded);

    expect(new Set(await load())).toEqual(new Set(['UNCHANGED']));
    expect(await walk(shop, 'products', 'first')).toEqual(loaded);
    expect(await walk(shop, 'productVariants', 'first')).toEqual(forwards);
  });

  it.each(['first', 'last'])(
    'loses nothing when records are deleted between pages (%s)',
    async (size) => {
      const shop = await gateway.createBrand('A shop');
      const own = catalogueOf(shop);
      for (const batch of inBatches(products)) await own.bulkProducts({ upsertRecords: batch });
      const deleted = new Set<string>();
      const seen = await walk(shop, 'products', size, async (nodes) => {
        // The records that the next cursor is of, one from the middle, and one still to come.
        const ids = products.map(({ storeId }) => storeId);
        const next = ids[ids.indexOf(nodes[0]!.storeId) + (size === 'first' ? 25 : -25)];
        const gone = [nodes[0]!.storeId, nodes.at(-1)!.storeId, nodes[4]!.storeId, next].filter(
          Boolean,
        );
        await own.bulkProducts({ deleteRecords: gone });
        for (const storeId of gone) deleted.add(storeId);
      });
      const seenIds = seen.map(({ storeId }) => storeId);
      expect(new Set(seenIds).size).toBe(seenIds.length);
      const lost = products.filter(
        ({ storeId }) => !deleted.has(storeId) && !seenIds.includes(storeId),
      );
      expect(lost).toEqual([]);
    },
  );
});

/** Pages through a whole list, ten at a time, and gives its records in the list's order. */
async function walk(
  client: TestBrand,
  field: string,
  size: string,
  betweenPages: (nodes: { storeId: string }[]) => Promise<void> = async () => {},
): Promise<{ storeId: string; updatedAt: string }[]> {
  const seen: { storeId: string; updatedAt: string }[] = [];
  let from = '';
  while (true) {
    const { data } = await client.ask(
      `{ ${field}(${size}: 10 ${from}) { nodes { storeId updatedAt title } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
    );
    const { nodes, pageInfo } = data[field];
    if (size === 'first') seen.push(...nodes);
    else seen.unshift(...nodes);
    if (!(size === 'first' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return seen;
    from =
      size === 'first' ? `after: "${pageInfo.endCursor}"` : `before: "${pageInfo.startCursor}"`;
    await betweenPages(nodes);
  }
}
