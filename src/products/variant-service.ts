import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand } from '../brands/service.ts';
import { newId } from '../database/ids.ts';
import { type Filter, listOf, type NestedList, type RecordList } from '../database/paging.ts';
import {
  findRecordByStoreId,
  getRecords,
  pickChanges,
  readWritten,
  type RecordSource,
} from '../database/records.ts';
import { queryInside } from '../database/statements.ts';
import { laterInstant, writeForBrand } from '../database/write.ts';
import { idNotFound, RefusedError, type UserError } from '../errors.ts';
import { ProductVariant } from './entity.ts';
import { storeIdTaken, updatedAfterFilter } from './service.ts';

/** A variant as it is read. Instants are PostgreSQL's text. */
export interface ProductVariantRow {
  __typename: 'ProductVariant';
  id: string;
  storeId: string;
  productStoreId: string;
  productId: string;
  title: string;
  barcode: string | null;
  sku: string | null;
  position: number;
  /** A bigint as text. */
  priceCents: string | null;
  currency: string | null;
  imageUrl: string | null;
  imageWidth: number | null;
  imageHeight: number | null;
  createdAt: string;
  updatedAt: string;
}

/** What variants are read from. A product's storeId never changes, and is kept in one place. */
const VARIANTS: RecordSource = {
  name: 'variant',
  columns: `
    'ProductVariant' as "__typename", t.id, t.store_id as "storeId", p.store_id as "productStoreId",
    t.product_id as "productId", t.title, t.barcode, t.sku, t.position,
    t.price_cents::text as "priceCents", t.currency, t.image_url as "imageUrl",
    t.image_width as "imageWidth", t.image_height as "imageHeight",
    t.created_at as "createdAt", t.updated_at as "updatedAt"`,
  from: 'product_variant t join product p on p.brand_id = t.brand_id and p.id = t.product_id',
};

/** Variants by id, in the order of the ids; null where the brand has no such variant. */
export function getVariants(
  em: EntityManager,
  brand: ForBrand,
  ids: readonly string[],
): Promise<(ProductVariantRow | null)[]> {
  return getRecords(em, brand.id, VARIANTS, ids);
}

/** The variant with a storeId, or null. */
export function findVariantByStoreId(
  em: EntityManager,
  brand: ForBrand,
  storeId: string,
): Promise<ProductVariantRow | null> {
  return findRecordByStoreId(em, brand.id, VARIANTS, storeId);
}

/** Which variants a list holds; what is left out or null does not narrow it. */
export interface VariantFilter {
  productId?: string | null;
  productStoreId?: string | null;
  /** ISO 8601; only variants updated later, strictly. */
  updatedAfter?: string | null;
}

/** The list of a brand's variants, by creation time. A product that is unknown has none. */
export function variantList(filter: VariantFilter): RecordList {
  const { productId, productStoreId, updatedAfter } = filter;
  const filters: Filter[] = [];
  if (productId) filters.push({ sql: 't.product_id = ?', value: productId });
  if (typeof productStoreId === 'string') {
    filters.push({ sql: 'p.store_id = ?', value: productStoreId });
  }
  if (updatedAfter) filters.push(updatedAfterFilter(updatedAfter));
  return listOf(VARIANTS, filters);
}

/** The variants of each product, by display position and then id. */
export const VARIANTS_OF_PRODUCT: NestedList = {
  source: VARIANTS,
  parent: 't.product_id',
  key: {
    tag: 'position',
    columns: [
      { sql: 't.position', type: 'integer', property: 'position' },
      { sql: 't.id', type: 'uuid', property: 'id' },
    ],
  },
};

/** What a new variant is made of. A nullable field that is left out is null. */
export interface CreateVariantInput {
  storeId: string;
  productStoreId: string;
  title: string;
  barcode?: string | null;
  sku?: string | null;
  position: number;
  priceCents?: number | null;
  currency?: string | null;
  imageUrl?: string | null;
  imageWidth?: number | null;
  imageHeight?: number | null;
}

/**
 * Makes a variant of a product. Records no event.
 *
 * @throws {RefusedError} NOT_FOUND at productStoreId, when the brand has no such product; TAKEN,
 *   when it has a variant with that storeId already.
 */
export async function createVariant(
  em: EntityManager,
  brand: ForBrand,
  { productStoreId, ...input }: CreateVariantInput,
): Promise<ProductVariantRow> {
  const id = newId();
  try {
    return await writeForBrand(em, brand.id, async (tx) => {
      const productId = await lockProduct(tx, brand, productStoreId);
      tx.create(ProductVariant, { ...NO_OPTIONALS, ...input, id, brandId: brand.id, productId });
      await tx.flush();
      return readWritten<ProductVariantRow>(tx, brand.id, VARIANTS, id);
    });
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw new RefusedError(storeIdTaken('variant', input.storeId));
  }
}

const NO_OPTIONALS = {
  barcode: null,
  sku: null,
  priceCents: null,
  currency: null,
  imageUrl: null,
  imageWidth: null,
  imageHeight: null,
};

/** What may change in a variant. A field that is left out stays; null clears a nullable one. */
export interface UpdateVariantInput {
  id: string;
  /** Moves the variant to another product. */
  productStoreId?: string | undefined;
  title?: string | undefined;
  barcode?: string | null | undefined;
  sku?: string | null | undefined;
  position?: number | undefined;
  priceCents?: number | null | undefined;
  currency?: string | null | undefined;
  imageUrl?: string | null | undefined;
  imageWidth?: number | null | undefined;
  imageHeight?: number | null | undefined;
}

/**
 * Changes a variant. `updatedAt` moves only when something is different afterwards. Records no
 * event.
 *
 * @throws {RefusedError} NOT_FOUND at id or at productStoreId, when the brand has none such; the
 *   variant is then as it was.
 */
export async function updateVariant(
  em: EntityManager,
  brand: ForBrand,
  { id, productStoreId, ...fields }: UpdateVariantInput,
): Promise<ProductVariantRow> {
  return writeForBrand(em, brand.id, async (tx) => {
    // The product first: deleting one locks it before its variants, and one order cannot deadlock.
    const productId =
      productStoreId === undefined ? undefined : await lockProduct(tx, brand, productStoreId);
    const variant = await tx.findOne(
      ProductVariant,
      { id },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!variant) throw new RefusedError(idNotFound('variant', id));
    const changes = pickChanges(variant, { ...fields, productId });
    if (changes) tx.assign(variant, { ...changes, updatedAt: laterInstant() });
    await tx.flush();
    return readWritten<ProductVariantRow>(tx, brand.id, VARIANTS, id);
  });
}

/** The refusal of a variant whose product the brand does not have; `field` leads to the storeId. */
export function productNotFound(storeId: string, field: string[]): UserError {
  const message = `There is no product with the storeId ${JSON.stringify(storeId)}.`;
  return { code: 'NOT_FOUND', field, message };
}

/** Finds a product's id and keeps the product from being deleted until the transaction ends. */
async function lockProduct(tx: EntityManager, brand: ForBrand, storeId: string): Promise<string> {
  const [row] = await queryInside<{ id: string }>(
    tx,
    'select id from product where brand_id = $1 and store_id = $2 for key share',
    [brand.id, storeId],
  );
  if (!row) throw new RefusedError(productNotFound(storeId, ['productStoreId']));
  return row.id;
}
