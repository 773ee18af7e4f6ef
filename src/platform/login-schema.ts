import type { UserError } from '../errors.ts';
import { DESCRIPTIONS } from '../graphql/descriptions.ts';
import { id, MAX_LINE, text } from '../graphql/input.ts';
import { redeemLoginCode } from '../magic-links/login.ts';
import type { MemberRow } from '../members/service.ts';
import { builder, toPayload, UserErrorRef } from './builder.ts';

const PlatformMember = builder.objectRef<MemberRow>('PlatformMember').implement({
  description: 'A member as the community application sees them.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: 'A UUID.' }),
    customAuthSub: t.exposeString('customAuthSub', {
      nullable: true,
      description: "The brand's own identifier of the user.",
    }),
    username: t.exposeString('username', {
      nullable: false,
      description: 'The name that the community knows them by, unique in the brand.',
    }),
    firstName: t.exposeString('firstName', { nullable: true, description: 'Their first name.' }),
    lastName: t.exposeString('lastName', { nullable: true, description: 'Their last name.' }),
    email: t.exposeString('email', { nullable: true, description: 'Their email address.' }),
    phoneNumber: t.exposeString('phoneNumber', {
      nullable: true,
      description: 'Their phone number, as it was given.',
    }),
    isEmailVerified: t.exposeBoolean('isEmailVerified', {
      nullable: false,
      description: 'Whether it is known that the email address is theirs.',
    }),
    isBanned: t.exposeBoolean('isBanned', {
      nullable: false,
      description: 'Whether the brand has shut them out.',
    }),
    role: t.exposeString('role', {
      nullable: false,
      description: 'What they are in the community, as in CUSTOMER.',
    }),
    profilePictureUrl: t.exposeString('profilePictureUrl', {
      nullable: true,
      description: 'Their picture.',
    }),
  }),
});

const RedeemLoginCodeInput = builder.inputType('RedeemLoginCodeInput', {
  description: "The code that a magic link's redirect brought.",
  fields: (t) => ({
    brandId: t.id({ required: true, ...id('The id of the brand.') }),
    code: t.string({ required: true, ...text("The redirect's `code`.", MAX_LINE) }),
  }),
});

interface Payload {
  member?: MemberRow;
  userErrors: UserError[];
}

const RedeemLoginCodePayload = builder.objectRef<Payload>('RedeemLoginCodePayload').implement({
  description: 'What became of redeemLoginCode.',
  fields: (t) => ({
    member: t.expose('member', {
      type: PlatformMember,
      nullable: true,
      description: 'The member that the code signs in; null when it was refused.',
    }),
    userErrors: t.expose('userErrors', {
      type: [UserErrorRef],
      nullable: false,
      description: DESCRIPTIONS.userErrors,
    }),
  }),
});

builder.mutationField('redeemLoginCode', (t) =>
  t.field({
    type: RedeemLoginCodePayload,
    nullable: true,
    description:
      "Turns the one-time code from a magic link's redirect into the member that it signs in, within 60 seconds of " +
      "the redirect. A code that is unknown, another brand's, too old or was redeemed is NOT_FOUND.",
    args: {
      input: t.arg({ type: RedeemLoginCodeInput, required: true, description: 'The code.' }),
    },
    resolve: (_root, { input }, { em }) =>
      toPayload(async () => ({ member: await redeemLoginCode(em, input) })),
  }),
);
