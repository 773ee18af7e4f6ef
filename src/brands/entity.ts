import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** How a magic link reaches its member; the platform schema's `MagicLinkDelivery`. */
export type MagicLinkDelivery = 'RETURNED' | 'EMAIL';

/** A tenant. Every other record belongs to exactly one. */
export const Brand = defineEntity({
  name: 'Brand',
  tableName: 'brand',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    communityUrl: p.text(),
    customAuthEnabled: p.boolean(),
    magicLinkDelivery: p.text().$type<MagicLinkDelivery>(),
    createdAt: p.datetime(3).defaultRaw('clock_timestamp()'),
    updatedAt: p.datetime(3).defaultRaw('clock_timestamp()'),
  },
});
export type Brand = InferEntity<typeof Brand>;
