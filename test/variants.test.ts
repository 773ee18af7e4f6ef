import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import { catalogueOf, productInput, VARIANT_FIELDS, variantInput } from './support/catalogue.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
let brand: TestBrand;
let other: TestBrand;
let catalogue: ReturnType<typeof catalogueOf>;

beforeAll(async () => {
  gateway = await startTestGateway();
  brand = await gateway.createBrand();
  other = await gateway.createBrand('Another brand');
  catalogue = catalogueOf(brand);
  await catalogue.createProduct(productInput('shirt'));
  await catalogue.createProduct(productInput('shoe'));
  await catalogueOf(other).createProduct(productInput('foreign'));
});
afterAll(() => gateway?.close());

describe('createProductVariant', () => {
  it('makes a variant, with every field', async () => {
    const input = variantInput('full', 'shirt', {
      barcode: '4006381333931',
      sku: 'S-1',
      position: 0,
      priceCents: 9_007_199_254_740_991,
      currency: 'EUR',
      imageUrl: 'https://img.example/v.jpg',
      imageWidth: 3,
      imageHeight: 4,
    });
    const { productVariant, userErrors } = await catalogue.createVariant(input);
    expect(userErrors).toEqual([]);
    expect(productVariant).toMatchObject(input);
    expect(productVariant.createdAt).toBe(productVariant.updatedAt);
  });

  it('takes what is left out for null', async () => {
    const { productVariant } = await catalogue.createVariant(variantInput('bare', 'shirt'));
    const nothing = {
      barcode: null,
      sku: null,
      priceCents: null,
      currency: null,
      imageUrl: null,
      imageWidth: null,
    };
    expect(productVariant).toMatchObject(nothing);
  });

  it('refuses an unknown product and a storeId in use, and changes nothing', async () => {
    await catalogue.createVariant(variantInput('twice', 'shirt'));
    const before = await catalogue.readAll();
    const unknown = await catalogue.createVariant(variantInput('new', 'nowhere'));
    expect(unknown.userErrors).toMatchObject([{ code: 'NOT_FOUND', field: ['productStoreId'] }]);
    const foreign = await catalogue.createVariant(variantInput('new', 'foreign'));
    expect(foreign.userErrors).toMatchObject([{ code: 'NOT_FOUND', field: ['productStoreId'] }]);
    const taken = await catalogue.createVariant(variantInput('twice', 'shoe'));
    expect(taken.userErrors).toMatchObject([{ code: 'TAKEN', field: ['storeId'] }]);
    expect(await catalogue.readAll()).toEqual(before);
  });

  it.each([
    ['a position below 0', { position: -1 }, 'position'],
    ['a price below 0', { priceCents: -1 }, 'priceCents'],
    ['a price beyond 2^53 - 1', { priceCents: 9_007_199_254_740_992 }, 'priceCents'],
    ['a price that is no whole number', { priceCents: 1.5 }, 'priceCents'],
    ['a price as text', { priceCents: '100' }, 'priceCents'],
    ['a position that does not fit', { position: 2_147_483_648 }, 'position'],
    ['a currency in small letters', { currency: 'eur' }, 'currency'],
    ['a currency of four letters', { currency: 'EURO' }, 'currency'],
    ['an empty sku', { sku: '' }, 'sku'],
    ['a barcode of 256 characters', { barcode: '1'.repeat(256) }, 'barcode'],
  ])('refuses %s at its path, and changes nothing', async (_what, fields, name) => {
    const before = await catalogue.readAll();
    const { errors } = await catalogue.createVariant({
      ...variantInput('bad', 'shirt'),
      ...fields,
    });
    expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
    expect(errors[0].extensions.issues.map(({ path }: { path: string[] }) => path)).toEqual([
      ['input', name],
    ]);
    expect(await catalogue.readAll()).toEqual(before);
  });
});

describe('updateProductVariant', () => {
  it('changes what is given, keeps what is left out, and clears what is null', async () => {
    const { productVariant } = await catalogue.createVariant(
      variantInput('update', 'shirt', { sku: 'S', priceCents: 100, currency: 'EUR' }),
    );
    const { productVariant: after } = await catalogue.updateVariant({
      id: productVariant.id,
      sku: null,
      priceCents: 250,
    });
    expect(after).toEqual({
      ...productVariant,
      sku: null,
      priceCents: 250,
      updatedAt: after.updatedAt,
    });
    expect(after.updatedAt > productVariant.updatedAt).toBe(true);
  });

  it('does not move updatedAt when nothing is different afterwards', async () => {
    const { productVariant } = await catalogue.createVariant(
      variantInput('same', 'shirt', { priceCents: 7 }),
    );
    const same = { id: productVariant.id, priceCents: 7, productStoreId: 'shirt', position: 1 };
    expect((await catalogue.updateVariant(same)).productVariant).toEqual(productVariant);
  });

  it('moves the variant to another product by productStoreId', async () => {
    const { productVariant } = await catalogue.createVariant(variantInput('mover', 'shirt'));
    const moved = (await catalogue.updateVariant({ id: productVariant.id, productStoreId: 'shoe' }))
      .productVariant;
    expect(moved.productStoreId).toBe('shoe');
    expect(moved.productId).not.toBe(productVariant.productId);
    const { data } = await brand.ask(
      '{ product(storeId: "shoe") { id variants { nodes { storeId } } } }',
    );
    expect(data.product).toEqual({
      id: moved.productId,
      variants: { nodes: [{ storeId: 'mover' }] },
    });
  });

  it.each(['productStoreId', 'title', 'position'])(
    'refuses null for %s, and changes nothing',
    async (name) => {
      const { productVariant } = await catalogue.createVariant(
        variantInput(`null-${name}`, 'shirt'),
      );
      const before = await catalogue.readAll();
      const { errors } = await catalogue.updateVariant({
        id: productVariant.id,
        [name]: null,
        sku: 'x',
      });
      expect(errors[0].extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        issues: [{ path: ['input', name] }],
      });
      expect(await catalogue.readAll()).toEqual(before);
    },
  );

  it("answers NOT_FOUND for an unknown or another brand's variant or product, and changes nothing", async () => {
    const { productVariant } = await catalogue.createVariant(variantInput('stays', 'shirt'));
    const foreign = await catalogueOf(other).createVariant(variantInput('foreign', 'foreign'));
    const before = [await catalogue.readAll(), await catalogueOf(other).readAll()];
    for (const id of [randomUUID(), foreign.productVariant.id]) {
      const { userErrors } = await catalogue.updateVariant({ id, title: 'x' });
      expect(userErrors).toMatchObject([{ code: 'NOT_FOUND', field: ['id'] }]);
    }
    for (const productStoreId of ['nowhere', 'foreign']) {
      const { userErrors } = await catalogue.updateVariant({
        id: productVariant.id,
        productStoreId,
        title: 'x',
      });
      expect(userErrors).toMatchObject([{ code: 'NOT_FOUND', field: ['productStoreId'] }]);
    }
    expect([await catalogue.readAll(), await catalogueOf(other).readAll()]).toEqual(before);
  });
});

describe('productVariant', () => {
  it('finds one by id and by storeId, with its product', async () => {
    const { productVariant } = await catalogue.createVariant(variantInput('find', 'shirt'));
    const query = `query ($id: ID, $storeId: String) {
      productVariant(id: $id, storeId: $storeId) { ${VARIANT_FIELDS} product { id storeId } }
    }`;
    const expected = {
      ...productVariant,
      product: { id: productVariant.productId, storeId: 'shirt' },
    };
    expect((await brand.ask(query, { id: productVariant.id })).data.productVariant).toEqual(
      expected,
    );
    expect((await brand.ask(query, { storeId: 'find' })).data.productVariant).toEqual(expected);
    expect((await brand.ask(query, { storeId: 'nope' })).errors?.[0]?.extensions.code).toBe(
      'NOT_FOUND',
    );
    expect((await brand.ask(query)).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});

describe('productVariants', () => {
  it('narrows by product, by its storeId, by both, and by what changed', async () => {
    await catalogue.createProduct(productInput('hat'));
    const made = [];
    for (const storeId of ['h1', 'h2', 'h3']) {
      made.push(
        (await catalogue.createVariant(variantInput(storeId, 'hat', { position: 9 })))
          .productVariant,
      );
    }
    const list = async (filter: string) => {
      const { data } = await brand.ask(
        `{ productVariants(first: 100, ${filter}) { totalCount nodes { storeId } } }`,
      );
      const { totalCount, nodes } = data.productVariants;
      expect(nodes).toHaveLength(totalCount);
      return nodes.map(({ storeId }: { storeId: string }) => storeId);
    };
    expect(await list('productStoreId: "hat"')).toEqual(['h1', 'h2', 'h3']);
    expect(await list(`productId: "${made[0].productId}", order: NEWEST_FIRST`)).toEqual([
      'h3',
      'h2',
      'h1',
    ]);
    expect(await list(`productId: "${made[0].productId}", productStoreId: "shoe"`)).toEqual([]);
    expect(await list('productStoreId: "nowhere"')).toEqual([]);
    expect(await list(`productId: "${randomUUID()}"`)).toEqual([]);

    const { updatedAt } = made[2];
    await new Promise((resolve) => setTimeout(resolve, 5));
    await catalogue.updateVariant({ id: made[0].id, title: 'Changed' });
    expect(await list(`updatedAfter: "${updatedAt}"`)).toEqual(['h1']);
  });
});
