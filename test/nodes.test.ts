import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import { catalogueOf, productInput, variantInput } from './support/catalogue.ts';
import { applicationOf, communityOf, postInput } from './support/community.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { countStatements } from './support/statements.ts';

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

describe('node and nodes', () => {
  it('give members, groups and posts too', async () => {
    const application = applicationOf(gateway.platform, brand.id);
    const [memberId = ''] = await application.join('node');
    const post = postInput(memberId);
    await application.mustRecord({ postSaved: post });
    const { memberGroup } = await communityOf(brand).createGroup({ name: 'Node' });
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id
      ... on Member { username } ... on MemberGroup { name } ... on Post { title } } }`;
    const ids = [post.id, memberGroup.id, memberId];
    expect((await brand.ask(query, { ids })).data.nodes).toEqual([
      { __typename: 'Post', id: post.id, title: 'A post' },
      { __typename: 'MemberGroup', id: memberGroup.id, name: 'Node' },
      { __typename: 'Member', id: memberId, username: 'node' },
    ]);
    expect((await other.ask(query, { ids })).data.nodes).toEqual([null, null, null]);
  });

  it('give records of every type by their ids alone, and null for anything else', async () => {
    const { product } = await catalogue.createProduct(productInput('node'));
    const { productVariant } = await catalogue.createVariant(variantInput('node', 'node'));
    const foreign = (await catalogueOf(other).createProduct(productInput('node'))).product;
    const ids = [
      productVariant.id,
      'no id',
      brand.id,
      foreign.id,
      product.id.toUpperCase(),
      randomUUID(),
      other.id,
      product.id,
    ];
    const { data, errors } = await brand.ask(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Product { storeId } ... on ProductVariant { product { id } } } }`,
      { ids },
    );
    expect(errors).toBeUndefined();
    const asProduct = { __typename: 'Product', id: product.id, storeId: 'node' };
    expect(data.nodes).toEqual([
      { __typename: 'ProductVariant', id: productVariant.id, product: { id: product.id } },
      null,
      { __typename: 'Brand', id: brand.id },
      null,
      asProduct,
      null,
      null,
      asProduct,
    ]);
    for (const [index, id] of ids.entries()) {
      const one = await brand.ask('query ($id: ID!) { node(id: $id) { id } }', { id });
      expect(one.errors).toBeUndefined();
      expect(one.data.node?.id).toEqual(data.nodes[index]?.id);
    }
  });

  it('take one statement to find the types of all ids, and one to read each type', async () => {
    const { product } = await catalogue.createProduct(productInput('counted'));
    const { productVariant } = await catalogue.createVariant(variantInput('counted', 'counted'));
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const ids = Array.from({ length: 50 }, () => randomUUID());
    expect(await countStatements(() => brand.ask(query, { ids }))).toBe(1);
    const both = [product.id, productVariant.id, ...ids];
    expect(await countStatements(() => brand.ask(query, { ids: both }))).toBe(3);
  });

  it('take at most 100 ids', async () => {
    const ids = Array.from({ length: 101 }, () => randomUUID());
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    expect((await brand.ask(query, { ids: ids.slice(1) })).data.nodes).toEqual(
      Array(100).fill(null),
    );
    const { errors } = await brand.ask(query, { ids });
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['ids'] }],
    });
  });
});
