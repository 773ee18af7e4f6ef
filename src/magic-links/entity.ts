import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

import { brandFilter } from '../database/tenancy.ts';

/**
 * A one-time login link: made, then spent for a login code, which is then redeemed. Neither the
 * link's token nor the code is stored, only their SHA-256.
 */
export const MagicLink = defineEntity({
  name: 'MagicLink',
  tableName: 'magic_link',
  filters: { brand: brandFilter },
  properties: {
    id: p.uuid().primary(),
    brandId: p.uuid(),
    memberId: p.uuid(),
    tokenHash: p.blob().unique(),
    /** Handed on to the brand's page as it is. */
    state: p.text().nullable(),
    /** A path on the brand's community. */
    returnTo: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('clock_timestamp()'),
    expiresAt: p.datetime(3),
    spentAt: p.datetime(3).nullable(),
    codeHash: p.blob().nullable().unique(),
    codeExpiresAt: p.datetime(3).nullable(),
    redeemedAt: p.datetime(3).nullable(),
  },
});
export type MagicLink = InferEntity<typeof MagicLink>;
