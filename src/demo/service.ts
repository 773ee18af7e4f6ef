import type { EntityManager } from '@mikro-orm/postgresql';

import { authenticate } from '../api-keys/service.ts';
import type { DataDir } from '../database/data-dir.ts';
import { UnauthenticatedError } from '../errors.ts';
import { createBrandWithKey } from '../platform/service.ts';
import { bulkProducts, bulkProductVariants } from '../products/bulk.ts';
import { DEMO_BRAND, DEMO_PRODUCTS, DEMO_VARIANTS } from './catalogue.ts';

/** The name in DATA_DIR under which the demo brand's key is kept. */
const KEY_NAME = 'demo-key';

/**
 * Makes the demo brand with its catalogue unless it is there, and gives its key. The key is kept
 * last, so that a first start that is killed half way is followed by another first start.
 */
export async function ensureDemo(em: EntityManager, dataDir: DataDir): Promise<string> {
  const kept = dataDir.readSecret(KEY_NAME);
  if (kept && (await isGoodKey(em, kept))) return kept;
  const { brand, token } = await createBrandWithKey(em, DEMO_BRAND);
  await bulkProducts(em, brand, { upsertRecords: DEMO_PRODUCTS });
  await bulkProductVariants(em, brand, { upsertRecords: DEMO_VARIANTS });
  dataDir.writeSecret(KEY_NAME, token);
  return token;
}

async function isGoodKey(em: EntityManager, key: string): Promise<boolean> {
  try {
    await authenticate(em, key);
    return true;
  } catch (error) {
    if (error instanceof UnauthenticatedError) return false;
    throw error;
  }
}
