import { BadInputError, NotFoundError } from '../errors.ts';
import { builder, ListOrder } from '../graphql/builder.ts';
import { defineConnection, readConnection, readNestedConnection } from '../graphql/connections.ts';
import type { Context } from '../graphql/context.ts';
import { id, integer, MAX_LINE, refuseNull, text, url } from '../graphql/input.ts';
import { addNodeType } from '../graphql/nodes.ts';
import { definePayload, toPayload } from '../graphql/payloads.ts';
import {
  createProduct,
  findProductByStoreId,
  getProducts,
  productList,
  type ProductRow,
  updateProduct,
  type UpdateProductInput,
} from './service.ts';
import { type ProductVariantRow, VARIANTS_OF_PRODUCT } from './variant-service.ts';

/** The most characters of a product's description. */
const MAX_DESCRIPTION = 65_535;

export const ProductRef = builder.objectRef<ProductRow>('Product');
export const ProductVariantRef = builder.objectRef<ProductVariantRow>('ProductVariant');

const ProductConnection = defineConnection(ProductRef, 'products');
export const ProductVariantConnection = defineConnection(ProductVariantRef, 'variants');

builder.node(ProductRef, {
  description: 'Something that the brand sells.',
  id: { resolve: ({ id: productId }) => productId },
  fields: (t) => ({
    storeId: t.exposeString('storeId', {
      nullable: false,
      description:
        "The brand's own identifier of the product, unique among its products. Never changes.",
    }),
    title: t.exposeString('title', { nullable: false, description: 'What the product is called.' }),
    description: t.exposeString('description', {
      nullable: false,
      description: 'What there is to say about it, as the brand gave it; may be empty.',
    }),
    imageUrl: t.exposeString('imageUrl', { nullable: true, description: 'Its picture.' }),
    imageWidth: t.exposeInt('imageWidth', {
      nullable: true,
      description: "The picture's width in pixels.",
    }),
    imageHeight: t.exposeInt('imageHeight', {
      nullable: true,
      description: "The picture's height in pixels.",
    }),
    onlineStoreUrl: t.exposeString('onlineStoreUrl', {
      nullable: false,
      description: "The product's page in the brand's shop.",
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      nullable: false,
      description:
        'When anything of the product last changed; a change of its variants does not count.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When it was made here.',
    }),
    variants: t.connection(
      {
        type: ProductVariantRef,
        nullable: false,
        description: 'The forms that the product is sold in. By display position.',
        resolve: (product, args, context) => {
          // So that a variant's own product is this very row, also when it is deleted meanwhile.
          productLoader(context).prime(product.id, product);
          return readNestedConnection<ProductVariantRow>(
            context,
            VARIANTS_OF_PRODUCT,
            product.id,
            args,
          );
        },
      },
      ProductVariantConnection,
    ),
  }),
});

addNodeType({
  typename: 'Product',
  table: 'product',
  getRows: ({ em, viewer }, ids) => getProducts(em, viewer.brand, ids),
});

/** Reads products by id, those of one level of a query together. */
export function productLoader({ em, loaders, viewer }: Context) {
  return loaders.get('product', (ids) => getProducts(em, viewer.brand, ids));
}

/** Checks that a getter was given its id or its storeId, and not both. */
export function checkOneIdentifier(args: { id?: string | null; storeId?: string | null }): void {
  const given = [args.id, args.storeId].filter((value) => typeof value === 'string');
  if (given.length === 1) return;
  throw new BadInputError([
    { path: ['id'], message: 'exactly one of id and storeId must be given' },
  ]);
}

builder.queryFields((t) => ({
  product: t.field({
    type: ProductRef,
    nullable: true,
    description:
      'A product. Exactly one of id and storeId. An unknown one is null, with an error NOT_FOUND.',
    args: {
      id: t.arg.id({ required: false, ...id('The id of the product.') }),
      storeId: t.arg.string({ required: false, ...text("The brand's own identifier.", MAX_LINE) }),
    },
    resolve: async (_root, args, context) => {
      checkOneIdentifier(args);
      const { em, viewer } = context;
      const product = args.id
        ? await productLoader(context).load(args.id)
        : await findProductByStoreId(em, viewer.brand, args.storeId!);
      if (!product) {
        const identifier = args.id ? `id ${args.id}` : `storeId ${JSON.stringify(args.storeId)}`;
        throw new NotFoundError(`There is no product with the ${identifier}.`);
      }
      return product;
    },
  }),
  products: t.connection(
    {
      type: ProductRef,
      nullable: true,
      description: "The brand's products.",
      args: {
        order: t.arg({
          type: ListOrder,
          required: false,
          description: 'OLDEST_FIRST unless told.',
        }),
        updatedAfter: t.arg({
          type: 'DateTime',
          required: false,
          description: 'Only products that were updated after this instant, strictly.',
        }),
      },
      resolve: (_root, args, context) =>
        readConnection<ProductRow>(context, productList(args), args),
    },
    ProductConnection,
  ),
}));

export const CreateProductInput = builder.inputType('CreateProductInput', {
  description:
    'A product as the shop knows it. In createProduct a field that is left out is null; in bulkProducts it is null ' +
    'on a new record and stays as it is on an existing one.',
  fields: (t) => ({
    storeId: t.string({
      required: true,
      ...text("The brand's own identifier, unique among its products.", MAX_LINE),
    }),
    title: t.string({ required: true, ...text('What the product is called.', MAX_LINE) }),
    description: t.string({
      required: true,
      ...text('What there is to say about it. May be empty.', MAX_DESCRIPTION, 0),
    }),
    imageUrl: t.string({ required: false, ...url('Its picture.') }),
    imageWidth: t.int({ required: false, ...integer("The picture's width in pixels.", 1) }),
    imageHeight: t.int({ required: false, ...integer("The picture's height in pixels.", 1) }),
    onlineStoreUrl: t.string({ required: true, ...url("The product's page in the brand's shop.") }),
  }),
});

const UpdateProductInputRef = builder.inputType('UpdateProductInput', {
  description:
    'What may change in a product. A field that is left out stays; null clears one that may be null.',
  validate: refuseNull('title', 'description', 'onlineStoreUrl'),
  fields: (t) => ({
    id: t.id({ required: true, ...id('The id of the product.') }),
    title: t.string({
      required: false,
      ...text('What the product is called. Not null.', MAX_LINE),
    }),
    description: t.string({
      required: false,
      ...text('What there is to say about it. May be empty, but not null.', MAX_DESCRIPTION, 0),
    }),
    imageUrl: t.string({ required: false, ...url('Its picture.') }),
    imageWidth: t.int({ required: false, ...integer("The picture's width in pixels.", 1) }),
    imageHeight: t.int({ required: false, ...integer("The picture's height in pixels.", 1) }),
    onlineStoreUrl: t.string({
      required: false,
      ...url("The product's page in the brand's shop. Not null."),
    }),
  }),
});

const CreateProductPayload = definePayload(
  'CreateProductPayload',
  'product',
  ProductRef,
  'What became of createProduct.',
);
const UpdateProductPayload = definePayload(
  'UpdateProductPayload',
  'product',
  ProductRef,
  'What became of updateProduct.',
);

builder.mutationFields((t) => ({
  createProduct: t.field({
    type: CreateProductPayload,
    nullable: true,
    description: 'Makes a product. A storeId that is in use is TAKEN.',
    args: {
      input: t.arg({ type: CreateProductInput, required: true, description: 'The new product.' }),
    },
    resolve: (_root, { input }, context) =>
      toPayload(context, () => createProduct(context.em, context.viewer.brand, input)),
  }),
  updateProduct: t.field({
    type: UpdateProductPayload,
    nullable: true,
    description:
      'Changes a product; its storeId stays. A change to what it already is does not move updatedAt.',
    args: {
      input: t.arg({ type: UpdateProductInputRef, required: true, description: 'The change.' }),
    },
    resolve: (_root, { input }, context) =>
      // The input type has refused null where the record cannot hold it.
      toPayload(context, () =>
        updateProduct(context.em, context.viewer.brand, input as UpdateProductInput),
      ),
  }),
}));
