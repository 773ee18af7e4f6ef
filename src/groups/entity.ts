import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

import { brandFilter } from '../database/tenancy.ts';

/** A group of members. The badge's columns are all null, or none is. */
export const MemberGroup = defineEntity({
  name: 'MemberGroup',
  tableName: 'member_group',
  filters: { brand: brandFilter },
  properties: {
    id: p.uuid().primary(),
    brandId: p.uuid(),
    name: p.text(),
    badgeId: p.uuid().nullable().unique(),
    badgeName: p.text().nullable(),
    /** `#` and six hex digits, as given. */
    badgeForegroundColor: p.text().nullable(),
    /** `#` and six hex digits, as given. */
    badgeBackgroundColor: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('clock_timestamp()'),
    updatedAt: p.datetime(3).defaultRaw('clock_timestamp()'),
  },
});
export type MemberGroup = InferEntity<typeof MemberGroup>;
