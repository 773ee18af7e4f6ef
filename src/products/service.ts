import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand } from '../brands/service.ts';
import { newId } from '../database/ids.ts';
import { type Filter, listOf, type RecordList } from '../database/paging.ts';
import {
  findRecordByStoreId,
  getRecords,
  pickChanges,
  readWritten,
  type RecordSource,
} from '../database/records.ts';
import { laterInstant, writeForBrand } from '../database/write.ts';
import { idNotFound, RefusedError, type UserError } from '../errors.ts';
import { Product } from './entity.ts';

/** A product as it is read. Instants are PostgreSQL's text. */
export interface ProductRow {
  __typename: 'Product';
  id: string;
  storeId: string;
  title: string;
  description: string;
  imageUrl: string | null;
  imageWidth: number | null;
  imageHeight: number | null;
  onlineStoreUrl: string;
  createdAt: string;
  updatedAt: string;
}

/** What products are read from, page by page or singly. */
const PRODUCTS: RecordSource = {
  name: 'product',
  columns: `
    'Product' as "__typename", t.id, t.store_id as "storeId", t.title, t.description,
    t.image_url as "imageUrl", t.image_width as "imageWidth", t.image_height as "imageHeight",
    t.online_store_url as "onlineStoreUrl", t.created_at as "createdAt", t.updated_at as "updatedAt"`,
  from: 'product t',
};

/** Products by id, in the order of the ids; null where the brand has no such product. */
export function getProducts(
  em: EntityManager,
  brand: ForBrand,
  ids: readonly string[],
): Promise<(ProductRow | null)[]> {
  return getRecords(em, brand.id, PRODUCTS, ids);
}

/** The product with a storeId, or null. */
export function findProductByStoreId(
  em: EntityManager,
  brand: ForBrand,
  storeId: string,
): Promise<ProductRow | null> {
  return findRecordByStoreId(em, brand.id, PRODUCTS, storeId);
}

/** The list of a brand's products; with `updatedAfter` only those updated later, strictly. */
export function productList({ updatedAfter }: { updatedAfter?: string | null }): RecordList {
  return listOf(PRODUCTS, updatedAfter ? [updatedAfterFilter(updatedAfter)] : []);
}

/** Lets through what was updated after an ISO 8601 instant, strictly. */
export function updatedAfterFilter(instant: string): Filter {
  return { sql: 't.updated_at > ?::timestamptz', value: instant, mayBeNarrow: true };
}

/** What a new product is made of. A nullable field that is left out is null. */
export interface CreateProductInput {
  storeId: string;
  title: string;
  description: string;
  imageUrl?: string | null;
  imageWidth?: number | null;
  imageHeight?: number | null;
  onlineStoreUrl: string;
}

/**
 * Makes a product. Records no event.
 *
 * @throws {RefusedError} TAKEN, when the brand has a product with that storeId; the index decides,
 *   so of two that race one is made.
 */
export async function createProduct(
  em: EntityManager,
  brand: ForBrand,
  input: CreateProductInput,
): Promise<ProductRow> {
  const id = newId();
  const { imageUrl = null, imageWidth = null, imageHeight = null, ...required } = input;
  try {
    return await writeForBrand(em, brand.id, async (tx) => {
      tx.create(Product, { ...required, imageUrl, imageWidth, imageHeight, id, brandId: brand.id });
      await tx.flush();
      return readWritten<ProductRow>(tx, brand.id, PRODUCTS, id);
    });
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw new RefusedError(storeIdTaken('product', input.storeId));
  }
}

/** What may change in a product. A field that is left out stays; null clears a nullable one. */
export interface UpdateProductInput {
  id: string;
  title?: string | undefined;
  description?: string | undefined;
  imageUrl?: string | null | undefined;
  imageWidth?: number | null | undefined;
  imageHeight?: number | null | undefined;
  onlineStoreUrl?: string | undefined;
}

/**
 * Changes a product. `updatedAt` moves only when something is different afterwards. Records no
 * event.
 *
 * @throws {RefusedError} NOT_FOUND, when the brand has no product with that id.
 */
export async function updateProduct(
  em: EntityManager,
  brand: ForBrand,
  { id, ...fields }: UpdateProductInput,
): Promise<ProductRow> {
  return writeForBrand(em, brand.id, async (tx) => {
    const product = await tx.findOne(Product, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!product) throw new RefusedError(idNotFound('product', id));
    const changes = pickChanges(product, fields);
    if (changes) tx.assign(product, { ...changes, updatedAt: laterInstant() });
    await tx.flush();
    return readWritten<ProductRow>(tx, brand.id, PRODUCTS, id);
  });
}

/** The refusal of a new record whose storeId is in use. */
export function storeIdTaken(what: 'product' | 'variant', storeId: string): UserError {
  const message = `There already is a ${what} with the storeId ${JSON.stringify(storeId)}.`;
  return { code: 'TAKEN', field: ['storeId'], message };
}
