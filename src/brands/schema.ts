import { builder } from '../graphql/builder.ts';
import { addNodeType } from '../graphql/nodes.ts';
import type { BrandSummary } from './service.ts';

export const BrandRef = builder.objectRef<BrandSummary>('Brand');

builder.node(BrandRef, {
  description: 'A tenant: the brand whose community this is.',
  id: { resolve: ({ id }) => id },
  fields: (t) => ({
    name: t.exposeString('name', { nullable: false, description: "The brand's name." }),
    customAuthEnabled: t.exposeBoolean('customAuthEnabled', {
      nullable: false,
      description: 'Whether the brand signs its users in itself; createMagicLink needs it.',
    }),
  }),
});

addNodeType({
  typename: 'Brand',
  // A credential sees one brand, and has it at hand.
  getRows: async ({ viewer }, ids) =>
    ids.map((id) => (id === viewer.brand.id ? viewer.brand : null)),
});

builder.queryField('brand', (t) =>
  t.field({
    type: BrandRef,
    nullable: false,
    description: 'The brand that the credential belongs to.',
    resolve: (_root, _args, { viewer }) => viewer.brand,
  }),
);
