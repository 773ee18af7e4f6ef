import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import { catalogueOf, PRODUCT_FIELDS, productInput } from './support/catalogue.ts';
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
});
afterAll(() => gateway?.close());

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('brand', () => {
  it('is the brand of the key', async () => {
    const { data } = await brand.ask('{ brand { id name customAuthEnabled } }');
    expect(data.brand).toEqual({ id: brand.id, name: 'A brand', customAuthEnabled: false });
  });
});

describe('createProduct', () => {
  it('makes a product, and null is null', async () => {
    const input = productInput('full', {
      imageUrl: 'https://img.example/1.jpg',
      imageWidth: 800,
      imageHeight: null,
    });
    const { product, userErrors } = await catalogue.createProduct(input);
    expect(userErrors).toEqual([]);
    expect(product).toEqual({
      ...input,
      id: expect.stringMatching(UUID),
      createdAt: expect.stringMatching(ISO),
      updatedAt: product.createdAt,
    });
  });

  it('takes what is left out for null, and an empty description', async () => {
    const { product } = await catalogue.createProduct(productInput('bare', { description: '' }));
    expect(product).toMatchObject({
      description: '',
      imageUrl: null,
      imageWidth: null,
      imageHeight: null,
    });
  });

  it('keeps text as it was given', async () => {
    const text = {
      title: ` Ürün "x" \\ '?' $1 🧶`,
      description: '<b>a</b>\n\t{"json": "\\u0041"}',
    };
    const { product } = await catalogue.createProduct(productInput('text', text));
    expect(product).toMatchObject(text);
  });

  it('refuses a storeId that is in use, and changes nothing', async () => {
    await catalogue.createProduct(productInput('twice', { title: 'First' }));
    const before = await catalogue.readAll();
    const { product, userErrors } = await catalogue.createProduct(
      productInput('twice', { title: 'Second' }),
    );
    expect(product).toBeNull();
    expect(userErrors).toEqual([
      { code: 'TAKEN', field: ['storeId'], message: expect.stringContaining('"twice"') },
    ]);
    expect(await catalogue.readAll()).toEqual(before);
  });

  it('lets another brand have the same storeId', async () => {
    await catalogue.createProduct(productInput('shared'));
    const { product } = await catalogueOf(other).createProduct(productInput('shared'));
    expect(product.storeId).toBe('shared');
  });

  it('makes one record and one TAKEN of two that race', async () => {
    for (let round = 0; round < 10; round++) {
      const input = productInput(`race-${round}`);
      const answers = await Promise.all([1, 2].map(() => catalogue.createProduct(input)));
      expect(answers.map(({ userErrors }) => userErrors[0]?.code).toSorted()).toEqual([
        'TAKEN',
        undefined,
      ]);
      expect(answers.filter(({ product }) => product)).toHaveLength(1);
    }
  });

  it.each([
    ['an empty title', { title: '' }, 'title'],
    ['a title of 256 characters', { title: 'x'.repeat(256) }, 'title'],
    ['an empty storeId', { storeId: '' }, 'storeId'],
    ['a storeId of 256 characters', { storeId: 'x'.repeat(256) }, 'storeId'],
    ['a NUL', { title: 'a\0b' }, 'title'],
    ['half a surrogate pair', { title: 'a\ud800b' }, 'title'],
    ['a description of 65,536 characters', { description: 'x'.repeat(65_536) }, 'description'],
    ['a relative URL', { onlineStoreUrl: '/products/1' }, 'onlineStoreUrl'],
    ['a javascript: URL', { onlineStoreUrl: 'javascript:alert(1)' }, 'onlineStoreUrl'],
    ['an ftp URL', { imageUrl: 'ftp://img.example/1' }, 'imageUrl'],
    ['a URL without a host', { imageUrl: 'https:///x' }, 'imageUrl'],
    ['a URL with a control character', { imageUrl: 'https://img.example/\u0001' }, 'imageUrl'],
    ['a URL with a space', { imageUrl: 'https://img.example/a b' }, 'imageUrl'],
    [
      'a URL of 2,049 characters',
      { imageUrl: `https://img.example/${'x'.repeat(2029)}` },
      'imageUrl',
    ],
    ['a width of 0', { imageWidth: 0 }, 'imageWidth'],
    ['a height below 0', { imageHeight: -1 }, 'imageHeight'],
  ])('refuses %s at its path, and changes nothing', async (_what, fields, name) => {
    const before = await catalogue.readAll();
    const { errors } = await catalogue.createProduct({ ...productInput('bad'), ...fields });
    expect(errors).toHaveLength(1);
    expect(errors[0].extensions).toEqual({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', name], message: expect.stringMatching(/^must /) }],
    });
    expect(await catalogue.readAll()).toEqual(before);
  });

  it('takes values at their bounds, counting characters and not bytes', async () => {
    const bounds = {
      title: '🧶'.repeat(255),
      description: 'x'.repeat(65_535),
      imageUrl: `https://img.example/${'x'.repeat(2028)}`,
      imageWidth: 2_147_483_647,
      imageHeight: 1,
    };
    const { product } = await catalogue.createProduct(productInput('b'.repeat(255), bounds));
    expect(product).toMatchObject(bounds);
  });

  it('says where a literal is wrong that GraphQL itself refuses', async () => {
    const { errors } = await brand.ask(`mutation {
      createProduct(input: { storeId: "x", title: "x", description: "", onlineStoreUrl: "https://x.example", imageWidth: 1.5 }) { userErrors { code } }
    }`);
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', 'imageWidth'] }],
    });
  });

  it('says where every variable is wrong that GraphQL itself refuses', async () => {
    const query =
      'mutation ($given: CreateProductInput!) { createProduct(input: $given) { userErrors { code } } }';
    const { data, errors } = await brand.ask(query, {
      given: { storeId: 'x', title: 5, imageWidth: 'wide', onlineStoreUrl: null },
    });
    expect(data).toBeUndefined();
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    const paths = errors?.[0]?.extensions.issues.map(({ path }: { path: string[] }) =>
      path.join('.'),
    );
    expect(paths.toSorted()).toEqual([
      'input.description',
      'input.imageWidth',
      'input.onlineStoreUrl',
      'input.title',
    ]);
  });
});

describe('an operation that GraphQL refuses', () => {
  it('says which variable is missing, and where it goes', async () => {
    const query = 'query ($size: Int!) { products(first: $size) { nodes { id } } }';
    const { errors } = await brand.ask(query, { first: 1 });
    expect(errors?.[0]).toMatchObject({
      message: 'first: the variable $size is required, and was not given',
      locations: [{ line: 1, column: 8 }],
      extensions: { code: 'BAD_USER_INPUT', issues: [{ path: ['first'] }] },
    });
  });

  it('says which field of a literal is missing, in a list too', async () => {
    const { errors } = await brand.ask(`mutation {
      bulkProducts(input: { deleteRecords: ["x"], upsertRecords: [{ storeId: "a", title: "x", onlineStoreUrl: "https://x.example" }] }) { success }
    }`);
    expect(errors?.[0]?.message).toMatch(/^input\.upsertRecords\.0\.description: /);
    const path = ['input', 'upsertRecords', 0, 'description'];
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', issues: [{ path }] });
  });

  it('is BAD_USER_INPUT when it does not parse or asks for what there is not', async () => {
    for (const query of [
      '{ brand {',
      '{ nothing }',
      '{ brand { name(x: 1) } }',
      'query A { brand { id } } query B { brand { id } }',
    ]) {
      const { data, errors } = await brand.ask(query);
      expect([data, errors?.[0]?.extensions.code]).toEqual([undefined, 'BAD_USER_INPUT']);
    }
  });
});

describe('updateProduct', () => {
  it('changes what is given, keeps what is left out, and clears what is null', async () => {
    const { product } = await catalogue.createProduct(
      productInput('update', { imageUrl: 'https://img.example/1', imageWidth: 1, imageHeight: 2 }),
    );
    const answer = await catalogue.updateProduct({
      id: product.id.toUpperCase(),
      title: 'New',
      imageUrl: null,
    });
    expect(answer.userErrors).toEqual([]);
    expect(answer.product).toEqual({
      ...product,
      title: 'New',
      imageUrl: null,
      updatedAt: expect.stringMatching(ISO),
    });
    expect(answer.product.updatedAt > product.updatedAt).toBe(true);
  });

  it('does not move updatedAt when nothing is different afterwards', async () => {
    const { product } = await catalogue.createProduct(productInput('same'));
    const answer = await catalogue.updateProduct({
      id: product.id,
      title: product.title,
      imageUrl: null,
    });
    expect(answer.product).toEqual(product);
    expect((await catalogue.updateProduct({ id: product.id })).product).toEqual(product);
  });

  it.each(['title', 'description', 'onlineStoreUrl'])(
    'refuses null for %s, and changes nothing',
    async (name) => {
      const { product } = await catalogue.createProduct(productInput(`null-${name}`));
      const before = await catalogue.readAll();
      const { errors } = await catalogue.updateProduct({
        id: product.id,
        [name]: null,
        imageWidth: 5,
      });
      expect(errors[0].extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        issues: [{ path: ['input', name] }],
      });
      expect(await catalogue.readAll()).toEqual(before);
    },
  );

  it('has no storeId to change', async () => {
    const { errors } = await catalogue.updateProduct({ id: randomUUID(), storeId: 'x' });
    expect(errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', 'storeId'] }],
    });
  });

  it('answers NOT_FOUND for an unknown id, and BAD_USER_INPUT for one that is no UUID', async () => {
    const id = randomUUID();
    expect(await catalogue.updateProduct({ id, title: 'x' })).toEqual({
      product: null,
      userErrors: [{ code: 'NOT_FOUND', field: ['id'], message: expect.stringContaining(id) }],
    });
    const { errors } = await catalogue.updateProduct({ id: '17', title: 'x' });
    expect(errors[0].extensions.issues).toEqual([
      { path: ['input', 'id'], message: 'must be a UUID' },
    ]);
  });

  it("answers NOT_FOUND for another brand's product, and leaves it alone", async () => {
    const { product } = await catalogueOf(other).createProduct(productInput('foreign'));
    const before = await catalogueOf(other).readAll();
    const answer = await catalogue.updateProduct({ id: product.id, title: 'Stolen' });
    expect(answer.userErrors[0].code).toBe('NOT_FOUND');
    expect(await catalogueOf(other).readAll()).toEqual(before);
  });

  it('keeps both of two changes that race', async () => {
    const { product } = await catalogue.createProduct(productInput('both'));
    await Promise.all([
      catalogue.updateProduct({ id: product.id, title: 'T' }),
      catalogue.updateProduct({ id: product.id, description: 'D' }),
    ]);
    const { data } = await brand.ask(
      'query ($id: ID!) { product(id: $id) { title description } }',
      { id: product.id },
    );
    expect(data.product).toEqual({ title: 'T', description: 'D' });
  });
});

describe('product', () => {
  it('finds one by id, in either case, and by storeId', async () => {
    const { product } = await catalogue.createProduct(productInput('find me'));
    const query = `query ($id: ID, $storeId: String) { product(id: $id, storeId: $storeId) { ${PRODUCT_FIELDS} } }`;
    expect((await brand.ask(query, { id: product.id.toUpperCase() })).data.product).toEqual(
      product,
    );
    expect((await brand.ask(query, { storeId: 'find me' })).data.product).toEqual(product);
    expect((await brand.ask(query, { storeId: 'find me', id: null })).data.product).toEqual(
      product,
    );
  });

  it.each([
    ['neither', {}, 'BAD_USER_INPUT'],
    ['both', { id: randomUUID(), storeId: 'x' }, 'BAD_USER_INPUT'],
    ['an id that is no UUID', { id: 'x' }, 'BAD_USER_INPUT'],
    ['a storeId with a NUL', { storeId: '\0' }, 'BAD_USER_INPUT'],
    ['an unknown id', { id: randomUUID() }, 'NOT_FOUND'],
    ['an unknown storeId', { storeId: 'nobody knows' }, 'NOT_FOUND'],
  ])('is null with an error when it is given %s', async (_what, variables, code) => {
    const query =
      'query ($id: ID, $storeId: String) { product(id: $id, storeId: $storeId) { id } brand { name } }';
    const { status, data, errors } = await brand.ask(query, variables);
    expect(status).toBe(200);
    expect(data).toEqual({ product: null, brand: { name: 'A brand' } });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['product'], code],
    ]);
  });
});
