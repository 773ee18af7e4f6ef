import type { EntityManager } from '@mikro-orm/postgresql';

import { createApiKey } from '../api-keys/service.ts';
import { type BrandRow, createBrand, type CreateBrandInput } from '../brands/service.ts';
import { queryInside } from '../database/statements.ts';
import { write } from '../database/write.ts';
import { idNotFound, RefusedError } from '../errors.ts';

/**
 * Makes a brand and its first secret key, which holds every scope, in one transaction.
 *
 * @returns the brand, and the key itself, which is not stored and cannot be shown again.
 */
export async function createBrandWithKey(
  em: EntityManager,
  input: CreateBrandInput,
): Promise<{ brand: BrandRow; token: string }> {
  return write(em, async (tx) => {
    const brand = await createBrand(tx, input);
    const token = createApiKey(tx, brand.id, { name: 'First key' });
    return { brand, token };
  });
}

/**
 * Makes another secret key with every scope for a brand.
 *
 * @returns the key itself, which is not stored and cannot be shown again.
 * @throws {RefusedError} NOT_FOUND at brandId, when there is no such brand.
 */
export async function createKeyForBrand(
  em: EntityManager,
  { brandId, name }: { brandId: string; name: string },
): Promise<string> {
  return write(em, async (tx) => {
    const text = 'select 1 from brand where id = $1 for key share';
    const brands = await queryInside(tx, text, [brandId]);
    if (brands.length === 0) throw new RefusedError(idNotFound('brand', brandId, ['brandId']));
    return createApiKey(tx, brandId, { name });
  });
}
