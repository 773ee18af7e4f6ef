import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

import { brandFilter } from '../database/tenancy.ts';

/** Something that the brand sells. `storeId` is the brand's own identifier for it. */
export const Product = defineEntity({
  name: 'Product',
  tableName: 'product',
  filters: { brand: brandFilter },
  uniques: [{ name: 'product_store_id_unique', properties: ['brandId', 'storeId'] }],
  properties: {
    id: p.uuid().primary(),
    brandId: p.uuid(),
    storeId: p.text(),
    title: p.text(),
    description: p.text(),
    imageUrl: p.text().nullable(),
    imageWidth: p.integer().nullable(),
    imageHeight: p.integer().nullable(),
    onlineStoreUrl: p.text(),
    createdAt: p.datetime(3).defaultRaw('clock_timestamp()'),
    updatedAt: p.datetime(3).defaultRaw('clock_timestamp()'),
  },
});
export type Product = InferEntity<typeof Product>;

/** One of the forms that a product is sold in. Deleted with its product. */
export const ProductVariant = defineEntity({
  name: 'ProductVariant',
  tableName: 'product_variant',
  filters: { brand: brandFilter },
  uniques: [{ name: 'product_variant_store_id_unique', properties: ['brandId', 'storeId'] }],
  properties: {
    id: p.uuid().primary(),
    brandId: p.uuid(),
    productId: p.uuid(),
    storeId: p.text(),
    title: p.text(),
    barcode: p.text().nullable(),
    sku: p.text().nullable(),
    /** Display position among the product's variants, the lowest first; ties go by id. */
    position: p.integer(),
    /** In hundredths of the currency's unit. Up to 2^53 - 1, which a JavaScript number holds exactly. */
    priceCents: p.bigint('number').nullable(),
    /** ISO 4217 alphabetic code. */
    currency: p.text().nullable(),
    imageUrl: p.text().nullable(),
    imageWidth: p.integer().nullable(),
    imageHeight: p.integer().nullable(),
    createdAt: p.datetime(3).defaultRaw('clock_timestamp()'),
    updatedAt: p.datetime(3).defaultRaw('clock_timestamp()'),
  },
});
export type ProductVariant = InferEntity<typeof ProductVariant>;
