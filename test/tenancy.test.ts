import { randomUUID } from 'node:crypto';

import {
  getNamedType,
  type GraphQLField,
  isInputObjectType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { brandSchema } from '../src/graphql/schema.ts';
import { type TestBrand } from './support/brand.ts';
import { catalogueOf, productInput, variantInput } from './support/catalogue.ts';
import { applicationOf, communityOf, memberInput, postInput } from './support/community.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
let owner: TestBrand;
let stranger: TestBrand;
/** What the owner has, by the names that arguments and input fields have in the schema. */
let known: Record<string, string>;
/** Everything by which the owner's records could be recognised in an answer. */
let marks: string[];

beforeAll(async () => {
  gateway = await startTestGateway();
  owner = await gateway.createBrand('Owner', { customAuthEnabled: true });
  stranger = await gateway.createBrand('Stranger', { customAuthEnabled: true });
  const catalogue = catalogueOf(owner);
  const { product } = await catalogue.createProduct(productInput('owned-product'));
  const { productVariant } = await catalogue.createVariant(
    variantInput('owned-variant', 'owned-product'),
  );
  const application = applicationOf(gateway.platform, owner.id);
  const member = memberInput('owned-member', { email: 'owned@example.com', customAuthSub: 'sub' });
  const post = postInput(member.id, { title: 'Owned post' });
  await application.mustRecord({ memberJoined: member }, { postSaved: post });
  const community = communityOf(owner);
  const { memberGroup } = await community.createGroup({ name: 'Owned group' });
  await community.updateMember({ id: member.id, groupIds: [memberGroup.id] });
  const [strangeMember] = await applicationOf(gateway.platform, stranger.id).join('strange-member');
  const { memberGroup: strangeGroup } = await communityOf(stranger).createGroup({
    name: 'Strange',
  });
  await communityOf(stranger).updateMember({ id: strangeMember, groupIds: [strangeGroup.id] });
  // A post of the stranger by a member of the owner, and the other way round.
  await applicationOf(gateway.platform, stranger.id).mustRecord({
    postSaved: postInput(member.id),
  });
  await application.mustRecord({ postSaved: postInput(strangeMember!) });
  // The stranger has records too, so that every nested field is resolved for it.
  await catalogueOf(stranger).createProduct(productInput('strange-product'));
  for (const id of ['strange-1', 'strange-2']) {
    await catalogueOf(stranger).createVariant(variantInput(id, 'strange-product'));
  }
  const eventId = await vi.waitFor(async () => {
    const { data } = await owner.ask('{ events { nodes { id } } }');
    return data.events.nodes[0].id as string;
  }, 10_000);
  known = {
    event: eventId,
    product: product.id,
    updateProduct: product.id,
    productVariant: productVariant.id,
    updateProductVariant: productVariant.id,
    productId: product.id,
    productStoreId: 'owned-product',
    member: member.id,
    memberGroup: memberGroup.id,
    post: post.id,
    roomId: post.roomId,
    strangeMember: strangeMember!,
    strangeGroup: strangeGroup.id,
  };
  marks = [
    product.id,
    productVariant.id,
    owner.id,
    memberGroup.id,
    post.id,
    eventId,
    'owned-member',
    'owned@example.com',
    'Owned group',
    'Owned post',
    'Product owned-product',
    'Variant owned-variant',
    '"Owner"',
  ];
});
afterAll(() => gateway?.close());

/** The values to ask a field with: every one that stands for a record of the owner. */
function argumentsFor(field: GraphQLField<unknown, unknown>): string[] {
  const { product, productVariant, member, memberGroup, post, event } = known;
  const ids = [product, productVariant, owner.id, member, memberGroup, post, event] as string[];
  if (field.name === 'nodes') return [`(ids: ${JSON.stringify(ids)})`];
  if (field.name === 'node') return ids.map((id) => `(id: "${id}")`);
  const names = new Set(field.args.map(({ name }) => name));
  const asked = [''];
  if (names.has('id')) asked.push(...ids.map((id) => `(id: "${id}")`));
  for (const name of ['storeId', 'productStoreId']) {
    if (!names.has(name)) continue;
    asked.push(`(${name}: "owned-product")`, `(${name}: "owned-variant")`);
  }
  for (const name of ['groupId', 'roomId']) {
    if (names.has(name)) asked.push(...[...ids, known.roomId].map((id) => `(${name}: "${id}")`));
  }
  if (names.has('productId')) asked.push(...ids.map((id) => `(productId: "${id}")`));
  return asked.filter((text) => text !== '' || !field.args.some(({ type }) => isNonNullType(type)));
}

/** Selects every field of a type that needs no argument, three levels deep. */
function selectAll(field: GraphQLField<unknown, unknown>, depth = 4): string {
  const type = getNamedType(field.type);
  if (!('getFields' in type) || isInputObjectType(type)) return '';
  const children = Object.values(type.getFields()).filter(
    (child) => !child.args.some(({ type: argument }) => isNonNullType(argument)),
  );
  const parts = children.flatMap((child) => {
    const isLeaf = !('getFields' in getNamedType(child.type));
    if (isLeaf) return [child.name];
    return depth > 0
      ? [`${child.name} ${selectAll(child as GraphQLField<unknown, unknown>, depth - 1)}`]
      : [];
  });
  return `{ __typename ${parts.join(' ')} }`;
}

describe('the key of another brand', () => {
  const fields = Object.values(brandSchema.getQueryType()?.getFields() ?? {});

  it.each(fields.map((field) => field.name))(
    'gets nothing of this brand by Query.%s',
    async (name) => {
      const field = fields.find((candidate) => candidate.name === name)!;
      const asked = argumentsFor(field);
      expect(asked.length).toBeGreaterThan(0);
      for (const args of asked) {
        const { data, errors } = await stranger.ask(`{ ${name}${args} ${selectAll(field)} }`);
        // What was asked with may come back in a message; nothing else may.
        const answer = marks.filter((mark) => !args.includes(mark));
        for (const mark of answer) expect(JSON.stringify(data)).not.toContain(mark);
        expect((errors ?? []).map(({ extensions }) => extensions.code)).not.toContain('FORBIDDEN');
        if (name === 'node') expect(data.node).toBeNull();
        if (name === 'nodes') expect(data.nodes).toEqual(Array(7).fill(null));
      }
    },
  );

  it('sees as many records as it has, and counts no others', async () => {
    const { data } = await stranger.ask(`{
      products { totalCount nodes { storeId variants { totalCount nodes { storeId product { storeId } } } } }
      productVariants { totalCount }
    }`);
    const product = { storeId: 'strange-product' };
    const variants = ['strange-1', 'strange-2'].map((storeId) => ({ storeId, product }));
    expect(data.products).toEqual({
      totalCount: 1,
      nodes: [{ ...product, variants: { totalCount: 2, nodes: variants } }],
    });
    expect(data.productVariants).toEqual({ totalCount: 2 });
  });

  it('pages from no place of another brand by a bare id', async () => {
    const { errors } = await stranger.ask(
      `{ products(after: "${known.product}") { nodes { id } } }`,
    );
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    const nested = await stranger.ask(
      `{ products { nodes { variants(after: "${known.productVariant}") { nodes { id } } } } }`,
    );
    expect(nested.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('changes nothing of this brand by any mutation', async () => {
    const readOwner = async () => [
      await catalogueOf(owner).readAll(),
      await communityOf(owner).readAll(),
    ];
    const before = await readOwner();
    const attempts: Record<string, object[]> = {
      createProduct: [productInput('owned-product')],
      updateProduct: [{ id: known.product, title: 'Stolen' }],
      createProductVariant: [
        variantInput('new', 'owned-product'),
        variantInput('owned-variant', 'owned-product'),
      ],
      updateProductVariant: [{ id: known.productVariant, title: 'Stolen' }],
      updateMember: [
        { id: known.member, isBanned: true, groupIds: [] },
        { id: known.strangeMember, groupIds: [known.memberGroup] },
      ],
      createMagicLink: [{ customAuthSub: 'sub', phoneNumber: '666' }],
      createMemberGroup: [{ name: 'Owned group' }],
      updateMemberGroup: [{ id: known.memberGroup, name: 'Stolen', brandMemberBadge: null }],
      bulkProducts: [
        {
          upsertRecords: [productInput('owned-product', { title: 'Stolen' })],
          deleteRecords: ['owned-variant'],
        },
        { deleteRecords: ['owned-product'] },
      ],
      bulkProductVariants: [
        {
          upsertRecords: [variantInput('owned-variant', 'owned-product')],
          errorPolicy: 'SKIP_FAILED',
        },
        { deleteRecords: ['owned-variant'] },
      ],
    };
    const mutations = Object.values(brandSchema.getMutationType()?.getFields() ?? {});
    expect(Object.keys(attempts).toSorted()).toEqual(mutations.map(({ name }) => name).toSorted());
    for (const mutation of mutations) {
      const [{ type } = { type: undefined }] = mutation.args;
      for (const input of attempts[mutation.name] ?? []) {
        const query = `mutation ($input: ${String(type)}) { ${mutation.name}(input: $input) ${selectAll(mutation)} }`;
        const { data, errors } = await stranger.ask(query, { input });
        expect(errors ?? []).toEqual([]);
        for (const mark of marks.slice(0, 3)) {
          const isEchoed = JSON.stringify(input).includes(mark);
          if (!isEchoed) expect(JSON.stringify(data)).not.toContain(mark);
        }
        expect(await readOwner()).toEqual(before);
      }
    }
  });

  it('is told NOT_FOUND, as for a record that nobody has', async () => {
    const messageFor = async (id: string) => {
      const { errors } = await stranger.ask(`{ product(id: "${id}") { id } }`);
      expect(errors?.[0]?.extensions.code).toBe('NOT_FOUND');
      return errors?.[0]?.message.replace(id, 'ID');
    };
    expect(await messageFor(known.product!)).toBe(await messageFor(randomUUID()));
  });

  it('is asked with every object type that the schema has', () => {
    const types = Object.values(brandSchema.getTypeMap()).filter(
      (type) => isObjectType(type) && !type.name.startsWith('__'),
    );
    const nodes = types.filter(
      (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'),
    );
    expect(nodes.map(({ name }) => name).toSorted()).toEqual([
      'Brand',
      'Member',
      'MemberGroup',
      'Post',
      'PostCommentCreatedEvent',
      'PostCommentLikedEvent',
      'PostCreatedEvent',
      'PostLikedEvent',
      'Product',
      'ProductVariant',
      'UserJoinedEvent',
    ]);
  });
});
