import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

import { brandFilter } from '../database/tenancy.ts';

/** A brand's credential. The key itself is never stored, only its SHA-256. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  filters: { brand: brandFilter },
  properties: {
    id: p.uuid().primary(),
    brandId: p.uuid(),
    name: p.text(),
    /** The start of the key, enough to tell it from others in lists and logs. */
    prefix: p.text(),
    /** SHA-256 of the whole key, 32 bytes. */
    tokenHash: p.blob().unique(),
    scopes: p.array(),
    createdAt: p.datetime(3).defaultRaw('clock_timestamp()'),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
});
export type ApiKey = InferEntity<typeof ApiKey>;
