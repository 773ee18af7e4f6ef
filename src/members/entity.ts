import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

import { brandFilter } from '../database/tenancy.ts';

/** A user of the brand's community. */
export const Member = defineEntity({
  name: 'Member',
  tableName: 'member',
  filters: { brand: brandFilter },
  properties: {
    id: p.uuid().primary(),
    brandId: p.uuid(),
    /** Unique in the brand. */
    username: p.text(),
    /** The brand's own identifier of the user, where it signs its users in itself; unique in the brand. */
    customAuthSub: p.text().nullable(),
    firstName: p.text().nullable(),
    lastName: p.text().nullable(),
    email: p.text().nullable(),
    phoneNumber: p.text().nullable(),
    isEmailVerified: p.boolean(),
    isBanned: p.boolean(),
    role: p.text(),
    profilePictureUrl: p.text().nullable(),
    /** When the member joined. Never changes; the memberships repeat it. */
    createdAt: p.datetime(3).defaultRaw('clock_timestamp()'),
    updatedAt: p.datetime(3).defaultRaw('clock_timestamp()'),
  },
});
export type Member = InferEntity<typeof Member>;
