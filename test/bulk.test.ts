import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import { catalogueOf, productInput, variantInput } from './support/catalogue.ts';
import type { Json } from './support/client.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { countStatements } from './support/statements.ts';

let gateway: TestGateway;
let brand: TestBrand;
let catalogue: ReturnType<typeof catalogueOf>;

beforeAll(async () => {
  gateway = await startTestGateway();
});
beforeEach(async () => {
  brand = await gateway.createBrand();
  catalogue = catalogueOf(brand);
});
afterAll(() => gateway?.close());

const outcomes = ({ results }: Json): Record<string, string> =>
  Object.fromEntries(results.map(({ storeId, outcome }: Json) => [storeId, outcome]));

describe('bulkProducts', () => {
  it('tells CREATED from UPDATED from UNCHANGED from DELETED from ABSENT, in the order given', async () => {
    await catalogue.bulkProducts({ upsertRecords: ['a', 'b', 'c'].map((id) => productInput(id)) });
    const before = await catalogue.readAll();
    const answer = await catalogue.bulkProducts({
      upsertRecords: [productInput('d'), productInput('b', { title: 'New' }), productInput('a')],
      deleteRecords: ['zz', 'c'],
    });
    expect(answer).toMatchObject({ success: true, userErrors: [] });
    expect(answer.results.map(({ storeId, outcome }: Json) => [storeId, outcome])).toEqual([
      ['d', 'CREATED'],
      ['b', 'UPDATED'],
      ['a', 'UNCHANGED'],
      ['zz', 'ABSENT'],
      ['c', 'DELETED'],
    ]);
    const idOf = (storeId: string) =>
      before.products.nodes.find((node: Json) => node.storeId === storeId)?.id;
    const ids = answer.results.map(({ productId }: Json) => productId);
    expect(ids).toEqual([expect.any(String), idOf('b'), idOf('a'), null, idOf('c')]);
    const titles = answer.results.map(({ product }: Json) => product?.title ?? null);
    expect(titles).toEqual(['Product d', 'New', 'Product a', null, null]);
    const after = await catalogue.readAll();
    expect(after.products.nodes.map(({ storeId }: Json) => storeId)).toEqual(['a', 'b', 'd']);
    expect(after.products.nodes[0]).toEqual(before.products.nodes[0]);
    expect(after.products.nodes[1].updatedAt > before.products.nodes[1].updatedAt).toBe(true);
    expect(after.products.nodes[1].createdAt).toBe(before.products.nodes[1].createdAt);
  });

  it('keeps the order of the call in lists', async () => {
    const storeIds = Array.from({ length: 100 }, (_, index) => `p${(index * 37) % 100}`);
    await catalogue.bulkProducts({ upsertRecords: storeIds.map((id) => productInput(id)) });
    const { products } = await catalogue.readAll();
    expect(products.nodes.map(({ storeId }: Json) => storeId)).toEqual(storeIds);
  });

  it('keeps what a record leaves out, clears what is null, and each record by itself', async () => {
    const image = { imageUrl: 'https://img.example/1', imageWidth: 10, imageHeight: 20 };
    await catalogue.bulkProducts({
      upsertRecords: ['a', 'b', 'c'].map((id) => productInput(id, image)),
    });
    const answer = await catalogue.bulkProducts({
      upsertRecords: [
        productInput('a'),
        productInput('b', { imageUrl: null, imageWidth: 11 }),
        productInput('c', { ...image, imageHeight: null }),
        productInput('d', { imageWidth: 5 }),
      ],
    });
    expect(outcomes(answer)).toEqual({ a: 'UNCHANGED', b: 'UPDATED', c: 'UPDATED', d: 'CREATED' });
    const images = answer.results.map(({ product }: Json) => [
      product.imageUrl,
      product.imageWidth,
      product.imageHeight,
    ]);
    expect(images).toEqual([
      ['https://img.example/1', 10, 20],
      [null, 11, 20],
      ['https://img.example/1', 10, null],
      [null, 5, null],
    ]);
  });

  it('fails every record whose storeId stands twice, deletes included, and writes nothing under REJECT_ALL', async () => {
    await catalogue.createProduct(productInput('a'));
    const before = await catalogue.readAll();
    const answer = await catalogue.bulkProducts({
      upsertRecords: [productInput('a', { title: 'x' }), productInput('b'), productInput('c')],
      deleteRecords: ['b', 'y', 'y', 'z'],
    });
    expect(answer.success).toBe(false);
    expect(answer.results.map(({ outcome }: Json) => outcome)).toEqual([
      'NOT_APPLIED',
      'FAILED',
      'NOT_APPLIED',
      'FAILED',
      'FAILED',
      'FAILED',
      'NOT_APPLIED',
    ]);
    expect(
      answer.results.every(
        ({ productId, product }: Json) => productId === null && product === null,
      ),
    ).toBe(true);
    expect(answer.userErrors.map(({ code, field }: Json) => [code, field.join('.')])).toEqual([
      ['DUPLICATE', 'upsertRecords.1.storeId'],
      ['DUPLICATE', 'deleteRecords.0'],
      ['DUPLICATE', 'deleteRecords.1'],
      ['DUPLICATE', 'deleteRecords.2'],
    ]);
    expect(await catalogue.readAll()).toEqual(before);
  });

  it('writes the others under SKIP_FAILED', async () => {
    const answer = await catalogue.bulkProducts({
      upsertRecords: [productInput('a'), productInput('b'), productInput('b')],
      errorPolicy: 'SKIP_FAILED',
    });
    expect(answer.success).toBe(false);
    expect(answer.results.map(({ outcome }: Json) => outcome)).toEqual([
      'CREATED',
      'FAILED',
      'FAILED',
    ]);
    const { products } = await catalogue.readAll();
    expect(products.nodes.map(({ storeId }: Json) => storeId)).toEqual(['a']);
  });

  it('deletes the variants of a product with it', async () => {
    await catalogue.bulkProducts({ upsertRecords: [productInput('a'), productInput('b')] });
    await catalogue.bulkVariants({
      upsertRecords: [variantInput('a1', 'a'), variantInput('a2', 'a'), variantInput('b1', 'b')],
    });
    await catalogue.bulkProducts({ deleteRecords: ['a'] });
    const { productVariants } = await catalogue.readAll();
    expect(productVariants.nodes.map(({ storeId }: Json) => storeId)).toEqual(['b1']);
  });

  it('takes 100 upserts and 100 deletes, and nothing at all', async () => {
    const storeIds = Array.from({ length: 100 }, (_, index) => String(index));
    const answer = await catalogue.bulkProducts({
      upsertRecords: storeIds.map((id) => productInput(id)),
      deleteRecords: storeIds.map((id) => `no ${id}`),
    });
    expect(answer.success).toBe(true);
    expect(answer.results).toHaveLength(200);
    for (const empty of [{}, { upsertRecords: null, deleteRecords: null }, { upsertRecords: [] }]) {
      expect(await catalogue.bulkProducts(empty)).toEqual({
        success: true,
        results: [],
        userErrors: [],
      });
    }
  });

  it.each([
    [
      '101 upserts',
      { upsertRecords: Array.from({ length: 101 }, (_, i) => productInput(`${i}`)) },
      'input.upsertRecords',
    ],
    [
      '101 deletes',
      { deleteRecords: Array.from({ length: 101 }, (_, i) => `${i}`) },
      'input.deleteRecords',
    ],
    [
      'a bad record',
      {
        upsertRecords: [productInput('a'), productInput('b', { title: '' })],
        errorPolicy: 'SKIP_FAILED',
      },
      'input.upsertRecords.1.title',
    ],
    [
      'a bad storeId to delete',
      { upsertRecords: [productInput('a')], deleteRecords: ['ok', ''] },
      'input.deleteRecords.1',
    ],
  ])('refuses %s at its path as BAD_USER_INPUT, and writes nothing', async (_what, input, path) => {
    const { errors } = await catalogue.bulkProducts(input);
    expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
    expect(errors[0].extensions.issues[0].path.join('.')).toBe(path);
    expect((await catalogue.readAll()).products.totalCount).toBe(0);
  });

  it('takes a constant number of statements, however many records there are', async () => {
    const count = (from: number, to: number) =>
      countStatements(async () => {
        const records = Array.from({ length: to - from }, (_, index) =>
          productInput(`n${from + index}`),
        );
        const { userErrors } = await catalogue.bulkProducts({
          upsertRecords: records,
          deleteRecords: ['x', 'y'],
        });
        return { errors: userErrors[0] };
      });
    expect(await count(0, 100)).toBe(await count(100, 102));
  });

  it('keeps nobody else waiting when one brand sends many calls at once', async () => {
    const other = await gateway.createBrand('Another brand');
    const records = Array.from({ length: 50 }, (_, index) => productInput(`m${index}`));
    const calls = Array.from({ length: 40 }, (_, index) =>
      catalogue.bulkProducts({ upsertRecords: records.map((r) => ({ ...r, title: `T${index}` })) }),
    );
    const reads = [];
    for (let read = 0; read < 10; read++)
      reads.push(await other.ask('{ products { nodes { id } } }'));
    expect(reads.filter(({ errors }) => errors)).toEqual([]);
    const answers = await Promise.all(calls);
    expect(answers.filter(({ success }) => !success)).toEqual([]);
  });

  it("leaves another brand's records of the same storeIds alone", async () => {
    const other = catalogueOf(await gateway.createBrand('Another brand'));
    await other.bulkProducts({ upsertRecords: [productInput('a'), productInput('b')] });
    const before = await other.readAll();
    const answer = await catalogue.bulkProducts({
      upsertRecords: [productInput('a', { title: 'Mine' })],
      deleteRecords: ['b'],
    });
    expect(outcomes(answer)).toEqual({ a: 'CREATED', b: 'ABSENT' });
    expect(await other.readAll()).toEqual(before);
  });

  it('creates each record once when the same call races, in any order', async () => {
    const storeIds = Array.from({ length: 50 }, (_, index) => `p${index}`);
    const calls = [storeIds, storeIds.toReversed(), storeIds, storeIds.toReversed()];
    const answers = await Promise.all(
      calls.map((ids) =>
        catalogue.bulkProducts({ upsertRecords: ids.map((id) => productInput(id)) }),
      ),
    );
    const created = answers.flatMap(({ results }) =>
      results.filter(({ outcome }: Json) => outcome === 'CREATED'),
    );
    expect(created).toHaveLength(50);
    expect(answers.every(({ success }) => success)).toBe(true);
    const ids = new Set(
      answers.flatMap(({ results }) => results.map(({ productId }: Json) => productId)),
    );
    expect(ids.size).toBe(50);
  });

  it('keeps what a record leaves out when another call makes it at the same moment', async () => {
    const image = { imageUrl: 'https://img.example/1', imageWidth: 1, imageHeight: 1 };
    for (let round = 0; round < 5; round++) {
      const storeId = `r${round}`;
      const [single] = await Promise.all([
        catalogue.createProduct(productInput(storeId, image)),
        catalogue.bulkProducts({ upsertRecords: [productInput(storeId)] }),
      ]);
      const { data } = await brand.ask(`{ product(storeId: "${storeId}") { imageUrl } }`);
      // Whoever came second: the bulk call keeps the picture, or createProduct is refused.
      expect(data.product.imageUrl).toBe(single.product ? image.imageUrl : null);
    }
  });
});

describe('bulkProductVariants', () => {
  beforeEach(async () => {
    await catalogue.bulkProducts({ upsertRecords: [productInput('shirt'), productInput('shoe')] });
  });

  it('creates, updates, moves, leaves and deletes', async () => {
    await catalogue.bulkVariants({
      upsertRecords: ['a', 'b', 'c', 'd'].map((id) =>
        variantInput(id, 'shirt', { priceCents: 100, currency: 'EUR', sku: id }),
      ),
    });
    const answer = await catalogue.bulkVariants({
      upsertRecords: [
        variantInput('a', 'shirt'),
        variantInput('b', 'shoe'),
        variantInput('c', 'shirt', { priceCents: 9_007_199_254_740_991, sku: null }),
        variantInput('e', 'shoe', { position: 3 }),
      ],
      deleteRecords: ['d', 'x'],
    });
    expect(outcomes(answer)).toEqual({
      a: 'UNCHANGED',
      b: 'UPDATED',
      c: 'UPDATED',
      e: 'CREATED',
      d: 'DELETED',
      x: 'ABSENT',
    });
    const [a, b, c, e] = answer.results.map(({ productVariant }: Json) => productVariant);
    expect(a).toMatchObject({ priceCents: 100, sku: 'a', currency: 'EUR' });
    expect(b).toMatchObject({ productStoreId: 'shoe', priceCents: 100, sku: 'b' });
    expect(c).toMatchObject({ priceCents: 9_007_199_254_740_991, sku: null, currency: 'EUR' });
    expect(e).toMatchObject({ productStoreId: 'shoe', position: 3, priceCents: null });
  });

  it('answers NOT_FOUND at the path of an unknown product, and writes nothing under REJECT_ALL', async () => {
    const input = {
      upsertRecords: [
        variantInput('a', 'shirt'),
        variantInput('b', 'nowhere'),
        variantInput('c', 'shirt'),
      ],
      deleteRecords: ['c', 'z'],
    };
    const answer = await catalogue.bulkVariants(input);
    expect(answer.success).toBe(false);
    expect(answer.results.map(({ outcome }: Json) => outcome)).toEqual([
      'NOT_APPLIED',
      'FAILED',
      'FAILED',
      'FAILED',
      'NOT_APPLIED',
    ]);
    expect(answer.userErrors.map(({ code, field }: Json) => [code, field.join('.')])).toEqual([
      ['DUPLICATE', 'upsertRecords.2.storeId'],
      ['DUPLICATE', 'deleteRecords.0'],
      ['NOT_FOUND', 'upsertRecords.1.productStoreId'],
    ]);
    expect((await catalogue.readAll()).productVariants.totalCount).toBe(0);

    const skipped = await catalogue.bulkVariants({ ...input, errorPolicy: 'SKIP_FAILED' });
    expect(skipped.results.map(({ outcome }: Json) => outcome)).toEqual([
      'CREATED',
      'FAILED',
      'FAILED',
      'FAILED',
      'ABSENT',
    ]);
    expect((await catalogue.readAll()).productVariants.totalCount).toBe(1);
  });

  it("does not know another brand's product", async () => {
    const other = catalogueOf(await gateway.createBrand('Another brand'));
    await other.createProduct(productInput('foreign'));
    const { userErrors } = await catalogue.bulkVariants({
      upsertRecords: [variantInput('a', 'foreign')],
    });
    expect(userErrors).toMatchObject([
      { code: 'NOT_FOUND', field: ['upsertRecords', '0', 'productStoreId'] },
    ]);
  });

  it('gets along with products that are deleted meanwhile', async () => {
    const storeIds = Array.from({ length: 20 }, (_, index) => `q${index}`);
    await catalogue.bulkProducts({ upsertRecords: storeIds.map((id) => productInput(id)) });
    const upsertRecords = storeIds.map((id) => variantInput(`v-${id}`, id));
    await catalogue.bulkVariants({ upsertRecords });
    const answers = await Promise.all([
      catalogue.bulkVariants({ upsertRecords, errorPolicy: 'SKIP_FAILED' }),
      catalogue.bulkProducts({ deleteRecords: storeIds }),
      catalogue.bulkVariants({
        upsertRecords: upsertRecords.toReversed(),
        errorPolicy: 'SKIP_FAILED',
      }),
      ...storeIds.map((id) => catalogue.createVariant(variantInput(`w-${id}`, id))),
    ]);
    expect(answers.filter(({ errors }) => errors)).toEqual([]);
    expect((await catalogue.readAll()).productVariants.totalCount).toBe(0);
  });
});
