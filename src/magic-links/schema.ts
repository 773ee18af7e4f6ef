import type { UserError } from '../errors.ts';
import { builder, UserErrorRef } from '../graphql/builder.ts';
import { DESCRIPTIONS } from '../graphql/descriptions.ts';
import { email, localPath, MAX_LINE, phoneNumber, text, url } from '../graphql/input.ts';
import { toPayload } from '../graphql/payloads.ts';
import { createMagicLink, LINK_LIFETIME_MINUTES } from './service.ts';

const MAX_STATE = 256;
const MAX_RETURN_TO = 100;

const NEW_ONLY = 'Of a new member only; one who is known keeps theirs.';
const KEPT = 'Left out, a known member keeps theirs; null clears it.';

const CreateMagicLinkInput = builder.inputType('CreateMagicLinkInput', {
  description:
    'The user to sign in. At least one of email and phoneNumber must be given, and not null.',
  validate: [
    [
      (input: { email?: unknown; phoneNumber?: unknown }) =>
        typeof input.email === 'string' || typeof input.phoneNumber === 'string',
      { message: 'at least one of email and phoneNumber must be given', path: ['email'] },
    ],
  ],
  fields: (t) => ({
    customAuthSub: t.string({
      required: true,
      ...text(
        "The brand's own identifier of the user. One that is unknown makes a member.",
        MAX_LINE,
      ),
    }),
    email: t.string({ required: false, ...email(`Their email address. ${KEPT}`) }),
    phoneNumber: t.string({
      required: false,
      ...phoneNumber(`Their phone number, as people write it. ${KEPT}`),
    }),
    isEmailVerified: t.boolean({
      required: false,
      description:
        'Whether it is known that the email address is theirs. Left out or null, false for a new member and for one ' +
        'whose email changes; otherwise as it is.',
    }),
    firstName: t.string({ required: false, ...text(`Their first name. ${NEW_ONLY}`, MAX_LINE) }),
    lastName: t.string({ required: false, ...text(`Their last name. ${NEW_ONLY}`, MAX_LINE) }),
    profilePictureUrl: t.string({ required: false, ...url(`Their picture. ${NEW_ONLY}`) }),
    state: t.string({
      required: false,
      ...text("Handed on to the brand's page as it is, in `state`. May be empty.", MAX_STATE, 0),
    }),
    returnTo: t.string({
      required: false,
      ...localPath("Where on the brand's community to go on to.", MAX_RETURN_TO),
    }),
  }),
});

interface Payload {
  record: { userId: string; url: string | null; expiresAt: string } | null;
  userErrors: UserError[];
}

const CreateMagicLinkPayload = builder.objectRef<Payload>('CreateMagicLinkPayload').implement({
  description: 'What became of createMagicLink.',
  fields: (t) => ({
    userId: t.id({
      nullable: true,
      description: 'The id of the member whom the link signs in; null when it was refused.',
      resolve: ({ record }) => record?.userId ?? null,
    }),
    url: t.string({
      nullable: true,
      description:
        'The one-time link, for brands that hand it over themselves; null where the service delivers it. Whoever has ' +
        'it can sign in as the member.',
      resolve: ({ record }) => record?.url ?? null,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: `Until when the link can be used: ${LINK_LIFETIME_MINUTES} minutes from now.`,
      resolve: ({ record }) => record?.expiresAt ?? null,
    }),
    userErrors: t.expose('userErrors', {
      type: [UserErrorRef],
      nullable: false,
      description: DESCRIPTIONS.userErrors,
    }),
  }),
});

builder.mutationField('createMagicLink', (t) =>
  t.field({
    type: CreateMagicLinkPayload,
    nullable: true,
    description:
      'Makes a one-time login link, for brands that sign their users in themselves (otherwise CUSTOM_AUTH_DISABLED). ' +
      'An unknown customAuthSub makes a member, with a username made up for them and the role CUSTOMER. A banned ' +
      'member gets no link (MEMBER_BANNED).',
    args: {
      input: t.arg({ type: CreateMagicLinkInput, required: true, description: 'For whom.' }),
    },
    resolve: (_root, { input }, context) =>
      toPayload(context, () =>
        createMagicLink(context.em, context.viewer.brand, input, context.linkOutlet),
      ),
  }),
);
