import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

import { creationKey, decodeCursor, type KeyValues } from '../database/cursors.ts';
import { newId, parseId } from '../database/ids.ts';
import { pickChanges } from '../database/records.ts';
import { query, queryInside } from '../database/statements.ts';
import { laterInstant, write } from '../database/write.ts';
import { idNotFound, RefusedError } from '../errors.ts';
import { openLog } from '../events/log.ts';
import { Brand, type MagicLinkDelivery } from './entity.ts';

export type { MagicLinkDelivery };

/** The brand that something is done for; the viewer's. */
export interface ForBrand {
  id: string;
}

/** A brand as its own credentials see it. */
export interface BrandSummary {
  id: string;
  name: string;
  customAuthEnabled: boolean;
}

/** A brand as the operator reads it. `createdAt` is PostgreSQL's text. */
export interface BrandRow extends BrandSummary {
  communityUrl: string;
  magicLinkDelivery: MagicLinkDelivery;
  createdAt: string;
}

const COLUMNS = `
  id, name, community_url as "communityUrl", custom_auth_enabled as "customAuthEnabled",
  magic_link_delivery as "magicLinkDelivery", created_at as "createdAt"`;

/** A brand, or null. */
export async function findBrand(em: EntityManager, id: string): Promise<BrandRow | null> {
  const text = `select ${COLUMNS} from brand where id = $1`;
  const [row] = await query<BrandRow>(em, text, [id]);
  return row ?? null;
}

/** The order of the list of brands. */
export const BRANDS_KEY = creationKey('brand');

/** The place in that order of a cursor or of a brand's bare id; null where it is neither. */
export async function findBrandPlace(em: EntityManager, cursor: string): Promise<KeyValues | null> {
  const id = parseId(cursor);
  if (!id) return decodeCursor(BRANDS_KEY, cursor);
  const brand = await findBrand(em, id);
  return brand && [brand.createdAt, brand.id];
}

/** At most `size` brands, the oldest first, from behind a place in that order. */
export async function listBrands(
  em: EntityManager,
  size: number,
  after: KeyValues | null,
): Promise<BrandRow[]> {
  const [createdAt, id] = BRANDS_KEY.columns.map(({ sql }) => sql);
  const behind = `where (${createdAt}, ${id}) > ($2::timestamptz, $3::uuid)`;
  const text = `select ${COLUMNS} from brand t ${after ? behind : ''} order by ${createdAt}, ${id} limit $1`;
  return query<BrandRow>(em, text, [size, ...(after ?? [])]);
}

/** What a new brand is made of. */
export interface CreateBrandInput {
  name: string;
  /** Where a redeemed magic link redirects to, before its returnTo. */
  communityUrl: string;
  /** False unless told. */
  customAuthEnabled?: boolean | null;
  /** RETURNED unless told. */
  magicLinkDelivery?: MagicLinkDelivery | null;
}

/** Makes a brand, with an empty event log, inside the transaction of `tx`. It has no key yet. */
export async function createBrand(tx: EntityManager, input: CreateBrandInput): Promise<BrandRow> {
  const id = newId();
  tx.create(Brand, {
    id,
    name: input.name,
    communityUrl: input.communityUrl,
    customAuthEnabled: input.customAuthEnabled ?? false,
    magicLinkDelivery: input.magicLinkDelivery ?? 'RETURNED',
  });
  await tx.flush();
  await openLog(tx, id);
  return readInside(tx, id);
}

/** What may change in a brand. A field that is left out stays. */
export interface UpdateBrandInput {
  id: string;
  name?: string | undefined;
  communityUrl?: string | undefined;
  customAuthEnabled?: boolean | undefined;
  magicLinkDelivery?: MagicLinkDelivery | undefined;
}

/**
 * Changes a brand.
 *
 * @throws {RefusedError} NOT_FOUND, when there is no brand with that id.
 */
export async function updateBrand(
  em: EntityManager,
  { id, ...fields }: UpdateBrandInput,
): Promise<BrandRow> {
  return write(em, async (tx) => {
    const brand = await tx.findOne(Brand, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!brand) throw new RefusedError(idNotFound('brand', id));
    const changes = pickChanges(brand, fields);
    if (changes) tx.assign(brand, { ...changes, updatedAt: laterInstant() });
    await tx.flush();
    return readInside(tx, id);
  });
}

async function readInside(tx: EntityManager, id: string): Promise<BrandRow> {
  const text = `select ${COLUMNS} from brand where id = $1`;
  const [row] = await queryInside<BrandRow>(tx, text, [id]);
  if (!row) throw new Error(`A brand that was just written is gone: ${id}`);
  return row;
}
