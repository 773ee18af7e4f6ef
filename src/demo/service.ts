import type { EntityManager } from '@mikro-orm/postgresql';

import { authenticate } from '../api-keys/service.ts';
import { type BrandSummary, listBrands } from '../brands/service.ts';
import type { DataDir } from '../database/data-dir.ts';
import { query } from '../database/statements.ts';
import { UnauthenticatedError } from '../errors.ts';
import { type BadgeInput, createGroup } from '../groups/service.ts';
import { updateMember } from '../members/service.ts';
import { recordActivity } from '../platform/activity.ts';
import { createBrandWithKey, createKeyForBrand } from '../platform/service.ts';
import { bulkProducts, bulkProductVariants } from '../products/bulk.ts';
import { DEMO_BRAND, DEMO_PRODUCTS, DEMO_VARIANTS } from './catalogue.ts';
import { DEMO_GROUPS, makeDemoActivities } from './community.ts';

/** The name in DATA_DIR under which the demo brand's key is kept. */
const KEY_NAME = 'demo-key';

/**
 * Makes the demo brand with its catalogue and its community unless it is there, and gives its key.
 * The key is kept last: a first start that is killed half way, or a key that is lost, is made good
 * by the next start, with the brand that is there, and without touching what somebody has made of it.
 */
export async function ensureDemo(em: EntityManager, dataDir: DataDir): Promise<string> {
  const kept = dataDir.readSecret(KEY_NAME);
  if (kept && (await isGoodKey(em, kept))) return kept;
  const { id, token } = await makeBrandOrKey(em);
  if (await isEmpty(em, 'product', id)) {
    await bulkProducts(em, { id }, { upsertRecords: DEMO_PRODUCTS });
  }
  if (await isEmpty(em, 'product_variant', id)) {
    await bulkProductVariants(em, { id }, { upsertRecords: DEMO_VARIANTS });
  }
  await fillCommunity(em, { ...DEMO_BRAND, id });
  dataDir.writeSecret(KEY_NAME, token);
  return token;
}

/** Gives a brand the demo's members, posts and groups; what of them is there already stays. */
export async function fillCommunity(em: EntityManager, brand: BrandSummary): Promise<void> {
  if ((await isEmpty(em, 'member', brand.id)) && (await isEmpty(em, 'post', brand.id))) {
    await recordActivity(em, { brandId: brand.id, activities: makeDemoActivities() });
  }
  if (!(await isEmpty(em, 'group_membership', brand.id))) return;
  const groupIds = new Map<string, string[]>();
  for (const { name, badge, usernames } of DEMO_GROUPS) {
    const id = await findOrMakeGroup(em, brand, name, badge);
    for (const username of usernames) {
      groupIds.set(username, [...(groupIds.get(username) ?? []), id]);
    }
  }
  const members = await query<{ id: string; username: string }>(
    em,
    'select id, username from member where brand_id = $1 and username = any ($2::text[])',
    [brand.id, [...groupIds.keys()]],
  );
  for (const { id, username } of members) {
    await updateMember(em, brand, { id, groupIds: groupIds.get(username) });
  }
}

/** A start that was killed may have left some of the groups. */
async function findOrMakeGroup(
  em: EntityManager,
  brand: BrandSummary,
  name: string,
  badge: BadgeInput | null,
): Promise<string> {
  const text = 'select id from member_group where brand_id = $1 and name = $2';
  const [known] = await query<{ id: string }>(em, text, [brand.id, name]);
  return (known ?? (await createGroup(em, brand, { name, brandMemberBadge: badge }))).id;
}

async function makeBrandOrKey(em: EntityManager): Promise<{ id: string; token: string }> {
  // It is the first brand that was made here, if it was made at all.
  const [first] = await listBrands(em, 1, null);
  if (first?.name === DEMO_BRAND.name && first.communityUrl === DEMO_BRAND.communityUrl) {
    const input = { brandId: first.id, name: 'Another demo key' };
    return { id: first.id, token: await createKeyForBrand(em, input) };
  }
  const { brand, token } = await createBrandWithKey(em, DEMO_BRAND);
  return { id: brand.id, token };
}

async function isEmpty(
  em: EntityManager,
  table: 'product' | 'product_variant' | 'member' | 'post' | 'group_membership',
  brandId: string,
): Promise<boolean> {
  const rows = await query(em, `select 1 from ${table} where brand_id = $1 limit 1`, [brandId]);
  return rows.length === 0;
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
