import { NotFoundError } from '../errors.ts';
import { builder, ListOrder } from '../graphql/builder.ts';
import { defineConnection, readConnection, readNestedConnection } from '../graphql/connections.ts';
import type { Context } from '../graphql/context.ts';
import { id, idList, refuseNull } from '../graphql/input.ts';
import { addNodeType } from '../graphql/nodes.ts';
import { definePayload, toPayload } from '../graphql/payloads.ts';
import { MemberGroupConnection, MemberGroupRef } from '../groups/schema.ts';
import {
  getMembers,
  GROUPS_OF_MEMBER,
  memberList,
  type MemberRow,
  MEMBERS_OF_GROUP,
  readGroupIds,
  updateMember,
  type UpdateMemberInput,
} from './service.ts';

/** The most groups that a member may be in. */
const MAX_GROUPS = 100;

const FIELDS = {
  isBanned: 'Whether the member is shut out; a banned member gets no magic link.',
  isEmailVerified: 'Whether it is known that the email address is theirs.',
};

export const MemberRef = builder.objectRef<MemberRow>('Member');
const MemberConnection = defineConnection(MemberRef, 'members');

builder.node(MemberRef, {
  description: "A user of the brand's community.",
  id: { resolve: ({ id: memberId }) => memberId },
  fields: (t) => ({
    username: t.exposeString('username', {
      nullable: false,
      description: 'The name that the community knows them by, unique in the brand.',
    }),
    firstName: t.exposeString('firstName', { nullable: true, description: 'Their first name.' }),
    lastName: t.exposeString('lastName', { nullable: true, description: 'Their last name.' }),
    email: t.exposeString('email', {
      nullable: true,
      description:
        'Their email address. Null when unknown, and to a credential without members:pii.',
    }),
    phoneNumber: t.exposeString('phoneNumber', {
      nullable: true,
      description:
        'Their phone number, as it was given. Null when unknown, and to a credential without members:pii.',
    }),
    isEmailVerified: t.exposeBoolean('isEmailVerified', {
      nullable: true,
      description: `${FIELDS.isEmailVerified} Null to a publishable key.`,
    }),
    isBanned: t.exposeBoolean('isBanned', {
      nullable: true,
      description: `${FIELDS.isBanned} Null to a publishable key.`,
    }),
    role: t.exposeString('role', {
      nullable: false,
      description: 'What they are in the community, as in CUSTOMER.',
    }),
    profilePictureUrl: t.exposeString('profilePictureUrl', {
      nullable: true,
      description: 'Their picture.',
    }),
    groupIds: t.idList({
      nullable: { list: false, items: false },
      description: 'The ids of the groups that they are in, the oldest group first. At most 100.',
      resolve: ({ id: memberId }, _args, { em, loaders, viewer }) =>
        loaders
          .get('group ids', (memberIds) => readGroupIds(em, viewer.brand, memberIds))
          .load(memberId),
    }),
    groups: t.connection(
      {
        type: MemberGroupRef,
        nullable: true,
        description:
          'The groups that they are in, the oldest group first. Null to a credential without groups:read.',
        resolve: ({ id: memberId }, args, context) =>
          readNestedConnection<typeof MemberGroupRef.$inferType>(
            context,
            GROUPS_OF_MEMBER,
            memberId,
            args,
          ),
      },
      MemberGroupConnection,
    ),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When they joined.',
    }),
  }),
});

builder.objectFields(MemberGroupRef, (t) => ({
  members: t.connection(
    {
      type: MemberRef,
      nullable: true,
      description:
        'The members in the group, by when they joined the brand. Null to a credential without members:read.',
      resolve: ({ id: groupId }, args, context) =>
        readNestedConnection<MemberRow>(context, MEMBERS_OF_GROUP, groupId, args),
    },
    MemberConnection,
  ),
}));

addNodeType({
  typename: 'Member',
  table: 'member',
  getRows: ({ em, viewer }, ids) => getMembers(em, viewer.brand, ids),
});

/** Reads members by id, those of one level of a query together. */
export function memberLoader({ em, loaders, viewer }: Context) {
  return loaders.get('member', (ids) => getMembers(em, viewer.brand, ids));
}

builder.queryFields((t) => ({
  member: t.field({
    type: MemberRef,
    nullable: true,
    description: 'A member. An unknown one is null, with an error NOT_FOUND.',
    args: { id: t.arg.id({ required: true, ...id('The id of the member.') }) },
    resolve: async (_root, args, context) => {
      const member = await memberLoader(context).load(args.id);
      if (!member) throw new NotFoundError(`There is no member with the id ${args.id}.`);
      return member;
    },
  }),
  members: t.connection(
    {
      type: MemberRef,
      nullable: true,
      description:
        "The brand's members, by when they joined; all, or those of one group. A group that is unknown has none.",
      args: {
        order: t.arg({
          type: ListOrder,
          required: false,
          description: 'OLDEST_FIRST unless told.',
        }),
        groupId: t.arg.id({ required: false, ...id('Only members of the group with this id.') }),
      },
      resolve: (_root, args, context) => readConnection<MemberRow>(context, memberList(args), args),
    },
    MemberConnection,
  ),
}));

const UpdateMemberInputRef = builder.inputType('UpdateMemberInput', {
  description: 'What a brand may change in a member. What is left out stays.',
  validate: refuseNull('isBanned', 'isEmailVerified', 'groupIds'),
  fields: (t) => ({
    id: t.id({ required: true, ...id('The id of the member.') }),
    isBanned: t.boolean({ required: false, description: `${FIELDS.isBanned} Not null.` }),
    isEmailVerified: t.boolean({
      required: false,
      description: `${FIELDS.isEmailVerified} Not null. For brands with custom auth only.`,
    }),
    groupIds: t.idList({
      required: { list: false, items: true },
      ...idList(
        "Replaces the member's whole set of groups; none when empty. Twice the same counts once. Not null.",
        MAX_GROUPS,
      ),
    }),
  }),
});

const UpdateMemberPayload = definePayload(
  'UpdateMemberPayload',
  'member',
  MemberRef,
  'What became of updateMember.',
);

builder.mutationField('updateMember', (t) =>
  t.field({
    type: UpdateMemberPayload,
    nullable: true,
    description:
      'Bans a member or lifts the ban, says whether the email is verified, and sets the groups: all that is given, ' +
      'or, when any of it is refused, nothing.',
    args: {
      input: t.arg({ type: UpdateMemberInputRef, required: true, description: 'The change.' }),
    },
    resolve: (_root, { input }, context) =>
      // The input type has refused null.
      toPayload(context, () =>
        updateMember(context.em, context.viewer.brand, input as UpdateMemberInput),
      ),
  }),
);
