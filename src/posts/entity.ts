import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

import { brandFilter } from '../database/tenancy.ts';

/** What a member has written. Read only for brands: the community application writes it. */
export const Post = defineEntity({
  name: 'Post',
  tableName: 'post',
  filters: { brand: brandFilter },
  properties: {
    id: p.uuid().primary(),
    brandId: p.uuid(),
    roomId: p.uuid(),
    /** The author, who need not be known here, or no longer. */
    userId: p.uuid(),
    title: p.text(),
    contentHtml: p.text(),
    isPinned: p.boolean(),
    type: p.text(),
    isPublished: p.boolean(),
    publishedAt: p.datetime(3).nullable(),
    /** Whether it ever was published. */
    wasPublished: p.boolean(),
    /** When it was written, as the community application says. */
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3).defaultRaw('clock_timestamp()'),
  },
});
export type Post = InferEntity<typeof Post>;
