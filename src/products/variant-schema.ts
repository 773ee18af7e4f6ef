import { NotFoundError } from '../errors.ts';
import { builder, ListOrder } from '../graphql/builder.ts';
import { readConnection } from '../graphql/connections.ts';
import type { Context } from '../graphql/context.ts';
import { currency, id, integer, MAX_LINE, refuseNull, text, url } from '../graphql/input.ts';
import { addNodeType } from '../graphql/nodes.ts';
import { definePayload, toPayload } from '../graphql/payloads.ts';
import {
  checkOneIdentifier,
  productLoader,
  ProductRef,
  ProductVariantConnection,
  ProductVariantRef,
} from './schema.ts';
import {
  createVariant,
  findVariantByStoreId,
  getVariants,
  type ProductVariantRow,
  updateVariant,
  type UpdateVariantInput,
  variantList,
} from './variant-service.ts';

/** The largest integer that a JSON number holds exactly; the column, a bigint, holds more. */
const MAX_PRICE_CENTS = Number.MAX_SAFE_INTEGER;

const DESCRIPTIONS = {
  title: 'What sets this form apart from the others, as in "Large / Green".',
  barcode: 'Its GTIN, EAN, UPC or ISBN, as printed.',
  sku: "The shop's stock keeping unit.",
  position: 'Its place among the variants of the product, the lowest first; equal ones go by age.',
  priceCents: "Its price in hundredths of the currency's unit.",
  currency: "The price's currency, as an ISO 4217 code.",
  imageUrl: 'Its picture.',
  imageWidth: "The picture's width in pixels.",
  imageHeight: "The picture's height in pixels.",
};

builder.node(ProductVariantRef, {
  description: 'One of the forms that a product is sold in. Deleted with its product.',
  id: { resolve: ({ id: variantId }) => variantId },
  fields: (t) => ({
    storeId: t.exposeString('storeId', {
      nullable: false,
      description:
        "The brand's own identifier of the variant, unique among its variants. Never changes.",
    }),
    productStoreId: t.exposeString('productStoreId', {
      nullable: false,
      description: 'The storeId of its product.',
    }),
    productId: t.exposeID('productId', { nullable: false, description: 'The id of its product.' }),
    product: t.field({
      type: ProductRef,
      nullable: false,
      description: 'The product that it is a form of.',
      resolve: async ({ productId }, _args, context) => {
        const product = await productLoader(context).load(productId);
        // Deleted between two statements of this query; its variants went with it.
        if (!product)
          throw new NotFoundError(`There is no product with the id ${productId} any more.`);
        return product;
      },
    }),
    title: t.exposeString('title', { nullable: false, description: DESCRIPTIONS.title }),
    barcode: t.exposeString('barcode', { nullable: true, description: DESCRIPTIONS.barcode }),
    sku: t.exposeString('sku', { nullable: true, description: DESCRIPTIONS.sku }),
    position: t.exposeInt('position', { nullable: false, description: DESCRIPTIONS.position }),
    priceCents: t.expose('priceCents', {
      type: 'SafeInt',
      nullable: true,
      description: DESCRIPTIONS.priceCents,
    }),
    currency: t.exposeString('currency', { nullable: true, description: DESCRIPTIONS.currency }),
    imageUrl: t.exposeString('imageUrl', { nullable: true, description: DESCRIPTIONS.imageUrl }),
    imageWidth: t.exposeInt('imageWidth', { nullable: true, description: DESCRIPTIONS.imageWidth }),
    imageHeight: t.exposeInt('imageHeight', {
      nullable: true,
      description: DESCRIPTIONS.imageHeight,
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When anything of the variant last changed.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When it was made here.',
    }),
  }),
});

addNodeType({
  typename: 'ProductVariant',
  table: 'product_variant',
  getRows: ({ em, viewer }, ids) => getVariants(em, viewer.brand, ids),
});

/** Reads variants by id, those of one level of a query together. */
export function variantLoader({ em, loaders, viewer }: Context) {
  return loaders.get('variant', (ids) => getVariants(em, viewer.brand, ids));
}

builder.queryFields((t) => ({
  productVariant: t.field({
    type: ProductVariantRef,
    nullable: true,
    description:
      'A variant. Exactly one of id and storeId. An unknown one is null, with an error NOT_FOUND.',
    args: {
      id: t.arg.id({ required: false, ...id('The id of the variant.') }),
      storeId: t.arg.string({ required: false, ...text("The brand's own identifier.", MAX_LINE) }),
    },
    resolve: async (_root, args, context) => {
      checkOneIdentifier(args);
      const { em, viewer } = context;
      const variant = args.id
        ? await variantLoader(context).load(args.id)
        : await findVariantByStoreId(em, viewer.brand, args.storeId!);
      if (!variant) {
        const identifier = args.id ? `id ${args.id}` : `storeId ${JSON.stringify(args.storeId)}`;
        throw new NotFoundError(`There is no variant with the ${identifier}.`);
      }
      return variant;
    },
  }),
  productVariants: t.connection(
    {
      type: ProductVariantRef,
      nullable: true,
      description:
        "The brand's variants, of all products or of one. A product that is unknown has none.",
      args: {
        order: t.arg({
          type: ListOrder,
          required: false,
          description: 'OLDEST_FIRST unless told.',
        }),
        productId: t.arg.id({
          required: false,
          ...id('Only variants of the product with this id.'),
        }),
        productStoreId: t.arg.string({
          required: false,
          ...text('Only variants of the product with this storeId.', MAX_LINE),
        }),
        updatedAfter: t.arg({
          type: 'DateTime',
          required: false,
          description: 'Only variants that were updated after this instant, strictly.',
        }),
      },
      resolve: (_root, args, context) =>
        readConnection<ProductVariantRow>(context, variantList(args), args),
    },
    ProductVariantConnection,
  ),
}));

export const CreateProductVariantInput = builder.inputType('CreateProductVariantInput', {
  description:
    'A variant as the shop knows it. In createProductVariant a field that is left out is null; in ' +
    'bulkProductVariants it is null on a new record and stays as it is on an existing one.',
  fields: (t) => ({
    storeId: t.string({
      required: true,
      ...text("The brand's own identifier, unique among its variants.", MAX_LINE),
    }),
    productStoreId: t.string({ required: true, ...text('The storeId of its product.', MAX_LINE) }),
    title: t.string({ required: true, ...text(DESCRIPTIONS.title, MAX_LINE) }),
    barcode: t.string({ required: false, ...text(DESCRIPTIONS.barcode, MAX_LINE) }),
    sku: t.string({ required: false, ...text(DESCRIPTIONS.sku, MAX_LINE) }),
    position: t.int({ required: true, ...integer(DESCRIPTIONS.position, 0) }),
    priceCents: t.field({
      type: 'SafeInt',
      required: false,
      ...integer(DESCRIPTIONS.priceCents, 0, MAX_PRICE_CENTS),
    }),
    currency: t.string({ required: false, ...currency("The price's currency.") }),
    imageUrl: t.string({ required: false, ...url(DESCRIPTIONS.imageUrl) }),
    imageWidth: t.int({ required: false, ...integer(DESCRIPTIONS.imageWidth, 1) }),
    imageHeight: t.int({ required: false, ...integer(DESCRIPTIONS.imageHeight, 1) }),
  }),
});

const UpdateProductVariantInput = builder.inputType('UpdateProductVariantInput', {
  description:
    'What may change in a variant. A field that is left out stays; null clears one that may be null.',
  validate: refuseNull('productStoreId', 'title', 'position'),
  fields: (t) => ({
    id: t.id({ required: true, ...id('The id of the variant.') }),
    productStoreId: t.string({
      required: false,
      ...text('The storeId of the product to move the variant to. Not null.', MAX_LINE),
    }),
    title: t.string({ required: false, ...text(`${DESCRIPTIONS.title} Not null.`, MAX_LINE) }),
    barcode: t.string({ required: false, ...text(DESCRIPTIONS.barcode, MAX_LINE) }),
    sku: t.string({ required: false, ...text(DESCRIPTIONS.sku, MAX_LINE) }),
    position: t.int({ required: false, ...integer(`${DESCRIPTIONS.position} Not null.`, 0) }),
    priceCents: t.field({
      type: 'SafeInt',
      required: false,
      ...integer(DESCRIPTIONS.priceCents, 0, MAX_PRICE_CENTS),
    }),
    currency: t.string({ required: false, ...currency("The price's currency.") }),
    imageUrl: t.string({ required: false, ...url(DESCRIPTIONS.imageUrl) }),
    imageWidth: t.int({ required: false, ...integer(DESCRIPTIONS.imageWidth, 1) }),
    imageHeight: t.int({ required: false, ...integer(DESCRIPTIONS.imageHeight, 1) }),
  }),
});

const CreateProductVariantPayload = definePayload(
  'CreateProductVariantPayload',
  'productVariant',
  ProductVariantRef,
  'What became of createProductVariant.',
);
const UpdateProductVariantPayload = definePayload(
  'UpdateProductVariantPayload',
  'productVariant',
  ProductVariantRef,
  'What became of updateProductVariant.',
);

builder.mutationFields((t) => ({
  createProductVariant: t.field({
    type: CreateProductVariantPayload,
    nullable: true,
    description:
      'Makes a variant of a product. An unknown productStoreId is NOT_FOUND; a storeId that is in use is TAKEN.',
    args: {
      input: t.arg({
        type: CreateProductVariantInput,
        required: true,
        description: 'The new variant.',
      }),
    },
    resolve: (_root, { input }, context) =>
      toPayload(context, () => createVariant(context.em, context.viewer.brand, input)),
  }),
  updateProductVariant: t.field({
    type: UpdateProductVariantPayload,
    nullable: true,
    description:
      'Changes a variant; its storeId stays. With productStoreId it moves to another product. A change to what it ' +
      'already is does not move updatedAt.',
    args: {
      input: t.arg({ type: UpdateProductVariantInput, required: true, description: 'The change.' }),
    },
    resolve: (_root, { input }, context) =>
      // The input type has refused null where the record cannot hold it.
      toPayload(context, () =>
        updateVariant(context.em, context.viewer.brand, input as UpdateVariantInput),
      ),
  }),
}));
