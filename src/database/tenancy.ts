import type { FilterDef } from '@mikro-orm/core';

/**
 * The filter that every entity with a brand carries. It is on by default and has no default
 * argument, so that an entity manager without a brand cannot read or change such a record at all:
 * MikroORM throws. `writeForBrand` sets it.
 *
 * It does not reach `getReference(id)` followed by a flush, nor plain SQL; the composite foreign
 * keys and the `brand_id = $1` of every statement hold there.
 */
export const brandFilter = {
  name: 'brand',
  cond: (args: { brandId: string }) => ({ brandId: args.brandId }),
  default: true,
} satisfies FilterDef;
