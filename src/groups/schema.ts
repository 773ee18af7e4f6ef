import { NotFoundError } from '../errors.ts';
import { builder, ListOrder } from '../graphql/builder.ts';
import { defineConnection, readConnection } from '../graphql/connections.ts';
import type { Context } from '../graphql/context.ts';
import { color, id, MAX_LINE, refuseNull, text } from '../graphql/input.ts';
import { addNodeType } from '../graphql/nodes.ts';
import { definePayload, toPayload } from '../graphql/payloads.ts';
import {
  type Badge,
  badgeOf,
  createGroup,
  getGroups,
  groupList,
  type MemberGroupRow,
  updateGroup,
  type UpdateGroupInput,
} from './service.ts';

const DESCRIPTIONS = {
  name: 'What the group is called.',
  badge: 'The badge that its members carry beside their names.',
  badgeName: 'What stands on the badge.',
  foregroundColor: "The colour of the badge's text.",
  backgroundColor: "The colour of the badge's ground.",
};

const HEX = '`#` and six hex digits, as given.';

const BrandMemberBadge = builder.objectRef<Badge>('BrandMemberBadge').implement({
  description: 'A badge that the members of a group carry beside their names.',
  fields: (t) => ({
    id: t.exposeID('id', {
      nullable: false,
      description: 'A UUID, which stays when the badge is changed.',
    }),
    name: t.exposeString('name', { nullable: false, description: DESCRIPTIONS.badgeName }),
    foregroundColor: t.exposeString('foregroundColor', {
      nullable: false,
      description: `${DESCRIPTIONS.foregroundColor} ${HEX}`,
    }),
    backgroundColor: t.exposeString('backgroundColor', {
      nullable: false,
      description: `${DESCRIPTIONS.backgroundColor} ${HEX}`,
    }),
  }),
});

export const MemberGroupRef = builder.objectRef<MemberGroupRow>('MemberGroup');

/** Its `members` are added where members are. */
builder.node(MemberGroupRef, {
  description: "A group of the brand's members.",
  id: { resolve: ({ id: groupId }) => groupId },
  fields: (t) => ({
    name: t.exposeString('name', { nullable: false, description: DESCRIPTIONS.name }),
    brandMemberBadge: t.field({
      type: BrandMemberBadge,
      nullable: true,
      description: `${DESCRIPTIONS.badge} Null when it has none.`,
      resolve: badgeOf,
    }),
  }),
});

export const MemberGroupConnection = defineConnection(MemberGroupRef, 'groups');

addNodeType({
  typename: 'MemberGroup',
  table: 'member_group',
  getRows: ({ em, viewer }, ids) => getGroups(em, viewer.brand, ids),
});

function groupLoader({ em, loaders, viewer }: Context) {
  return loaders.get('group', (ids) => getGroups(em, viewer.brand, ids));
}

builder.queryFields((t) => ({
  memberGroup: t.field({
    type: MemberGroupRef,
    nullable: true,
    description: 'A group of members. An unknown one is null, with an error NOT_FOUND.',
    args: { id: t.arg.id({ required: true, ...id('The id of the group.') }) },
    resolve: async (_root, args, context) => {
      const group = await groupLoader(context).load(args.id);
      if (!group) throw new NotFoundError(`There is no group with the id ${args.id}.`);
      return group;
    },
  }),
  memberGroups: t.connection(
    {
      type: MemberGroupRef,
      nullable: true,
      description: "The brand's groups of members.",
      args: {
        order: t.arg({
          type: ListOrder,
          required: false,
          description: 'OLDEST_FIRST unless told.',
        }),
      },
      resolve: (_root, args, context) => readConnection<MemberGroupRow>(context, groupList(), args),
    },
    MemberGroupConnection,
  ),
}));

const BrandMemberBadgeInput = builder.inputType('BrandMemberBadgeInput', {
  description: 'A badge, whole.',
  fields: (t) => ({
    name: t.string({ required: true, ...text(DESCRIPTIONS.badgeName, MAX_LINE) }),
    foregroundColor: t.string({ required: true, ...color(DESCRIPTIONS.foregroundColor) }),
    backgroundColor: t.string({ required: true, ...color(DESCRIPTIONS.backgroundColor) }),
  }),
});

const CreateMemberGroupInput = builder.inputType('CreateMemberGroupInput', {
  description: 'A new group.',
  fields: (t) => ({
    name: t.string({ required: true, ...text(DESCRIPTIONS.name, MAX_LINE) }),
    brandMemberBadge: t.field({
      type: BrandMemberBadgeInput,
      required: false,
      description: `${DESCRIPTIONS.badge} None unless told.`,
    }),
  }),
});

const UpdateMemberGroupInput = builder.inputType('UpdateMemberGroupInput', {
  description: 'What may change in a group. What is left out stays.',
  validate: refuseNull('name'),
  fields: (t) => ({
    id: t.id({ required: true, ...id('The id of the group.') }),
    name: t.string({ required: false, ...text(`${DESCRIPTIONS.name} Not null.`, MAX_LINE) }),
    brandMemberBadge: t.field({
      type: BrandMemberBadgeInput,
      required: false,
      description: 'The badge as it is to be. Null removes the badge; left out, it stays.',
    }),
  }),
});

const CreateMemberGroupPayload = definePayload(
  'CreateMemberGroupPayload',
  'memberGroup',
  MemberGroupRef,
  'What became of createMemberGroup.',
);
const UpdateMemberGroupPayload = definePayload(
  'UpdateMemberGroupPayload',
  'memberGroup',
  MemberGroupRef,
  'What became of updateMemberGroup.',
);

builder.mutationFields((t) => ({
  createMemberGroup: t.field({
    type: CreateMemberGroupPayload,
    nullable: true,
    description: 'Makes a group without members; updateMember puts members into it.',
    args: {
      input: t.arg({ type: CreateMemberGroupInput, required: true, description: 'The new group.' }),
    },
    resolve: (_root, { input }, context) =>
      toPayload(context, () => createGroup(context.em, context.viewer.brand, input)),
  }),
  updateMemberGroup: t.field({
    type: UpdateMemberGroupPayload,
    nullable: true,
    description: 'Changes a group. A badge that is changed keeps its id.',
    args: {
      input: t.arg({ type: UpdateMemberGroupInput, required: true, description: 'The change.' }),
    },
    resolve: (_root, { input }, context) =>
      // The input type has refused null for the name.
      toPayload(context, () =>
        updateGroup(context.em, context.viewer.brand, input as UpdateGroupInput),
      ),
  }),
}));
