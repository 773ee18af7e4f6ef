import type { UserError } from '../errors.ts';
import { DESCRIPTIONS } from '../graphql/descriptions.ts';
import { email, id, list, MAX_LINE, phoneNumber, refuseNull, text, url } from '../graphql/input.ts';
import { MAX_ACTIVITIES, recordActivity } from './activity.ts';
import { builder, toPayload, UserErrorRef } from './builder.ts';
import type { Activity } from './community.ts';

const MAX_WORD = 64;

/** The most characters of a post's HTML, and of a comment. */
const MAX_CONTENT_HTML = 262_144;
const MAX_COMMENT = 65_535;

const MEMBER = {
  id: 'The id of the member.',
  username: 'The name that the community knows them by, unique in the brand.',
  customAuthSub: "The brand's own identifier of the user, unique in the brand.",
  firstName: 'Their first name.',
  lastName: 'Their last name.',
  email: 'Their email address.',
  phoneNumber: 'Their phone number, as people write it.',
  isEmailVerified: 'Whether it is known that the email address is theirs.',
  role: 'What they are in the community.',
  profilePictureUrl: 'Their picture.',
};

const MemberJoinedInput = builder.inputType('MemberJoinedInput', {
  description: 'A member who joined. What is left out is null unless it says otherwise.',
  fields: (t) => ({
    id: t.id({ required: true, ...id(`${MEMBER.id} No other record of any brand has it.`) }),
    username: t.string({ required: true, ...text(MEMBER.username, MAX_LINE) }),
    customAuthSub: t.string({ required: false, ...text(MEMBER.customAuthSub, MAX_LINE) }),
    firstName: t.string({ required: false, ...text(MEMBER.firstName, MAX_LINE) }),
    lastName: t.string({ required: false, ...text(MEMBER.lastName, MAX_LINE) }),
    email: t.string({ required: false, ...email(MEMBER.email) }),
    phoneNumber: t.string({ required: false, ...phoneNumber(MEMBER.phoneNumber) }),
    isEmailVerified: t.boolean({
      required: false,
      description: `${MEMBER.isEmailVerified} False unless told.`,
    }),
    role: t.string({ required: false, ...text(`${MEMBER.role} CUSTOMER unless told.`, MAX_WORD) }),
    profilePictureUrl: t.string({ required: false, ...url(MEMBER.profilePictureUrl) }),
  }),
});

const MemberUpdatedInput = builder.inputType('MemberUpdatedInput', {
  description: 'A change of a member. Fields left out stay; null clears.',
  validate: refuseNull('username', 'isEmailVerified', 'role'),
  fields: (t) => ({
    id: t.id({ required: true, ...id(MEMBER.id) }),
    username: t.string({ required: false, ...text(`${MEMBER.username} Not null.`, MAX_LINE) }),
    firstName: t.string({ required: false, ...text(MEMBER.firstName, MAX_LINE) }),
    lastName: t.string({ required: false, ...text(MEMBER.lastName, MAX_LINE) }),
    email: t.string({ required: false, ...email(MEMBER.email) }),
    phoneNumber: t.string({ required: false, ...phoneNumber(MEMBER.phoneNumber) }),
    isEmailVerified: t.boolean({
      required: false,
      description: `${MEMBER.isEmailVerified} Left out, it stays, also when the email changes. Not null.`,
    }),
    role: t.string({ required: false, ...text(`${MEMBER.role} Not null.`, MAX_WORD) }),
    profilePictureUrl: t.string({ required: false, ...url(MEMBER.profilePictureUrl) }),
  }),
});

const MemberDeletedInput = builder.inputType('MemberDeletedInput', {
  description: 'A member who is gone.',
  fields: (t) => ({ id: t.id({ required: true, ...id(MEMBER.id) }) }),
});

const PostSavedInput = builder.inputType('PostSavedInput', {
  description: 'A post as it stands now.',
  fields: (t) => ({
    id: t.id({
      required: true,
      ...id('The id of the post. When the post is new, no other record of any brand has it.'),
    }),
    roomId: t.id({ required: true, ...id('The id of the room that it stands in.') }),
    userId: t.id({
      required: true,
      ...id("The author's id. The author need not be known, as when they were deleted."),
    }),
    title: t.string({ required: true, ...text('Its title. May be empty.', MAX_LINE, 0) }),
    contentHtml: t.string({
      required: true,
      ...text('Its text as HTML, which is kept as it is. May be empty.', MAX_CONTENT_HTML, 0),
    }),
    isPinned: t.boolean({
      required: false,
      description:
        'Whether it is kept at the top of its room. Left out, false on a new post, and as it is on one that is known.',
    }),
    type: t.string({
      required: false,
      ...text(
        'What kind it is. Left out, TEXT on a new post, and as it is on one that is known.',
        MAX_WORD,
      ),
    }),
    createdAt: t.field({
      type: 'DateTime',
      required: true,
      description: 'When it was written.',
    }),
    publishedAt: t.field({
      type: 'DateTime',
      required: false,
      description:
        'When it was published. Left out, it stays; a published post that has none gets the time of the activity.',
    }),
    isPublished: t.boolean({
      required: true,
      description: 'Whether the community can read it now.',
    }),
  }),
});

const PostDeletedInput = builder.inputType('PostDeletedInput', {
  description: 'A post that is gone.',
  fields: (t) => ({ id: t.id({ required: true, ...id('The id of the post.') }) }),
});

const POST_ID = 'The id of the post.';
const COMMENT_ID = "The comment's id; comments themselves are not kept.";

const PostLikedInput = builder.inputType('PostLikedInput', {
  description: 'A like of a post.',
  fields: (t) => ({
    postId: t.id({ required: true, ...id(POST_ID) }),
    userId: t.id({ required: true, ...id('The id of the member who likes it.') }),
  }),
});

const PostCommentCreatedInput = builder.inputType('PostCommentCreatedInput', {
  description: 'A comment on a post.',
  fields: (t) => ({
    postId: t.id({ required: true, ...id(POST_ID) }),
    postCommentId: t.id({ required: true, ...id(COMMENT_ID) }),
    userId: t.id({ required: true, ...id('The id of the member who wrote it.') }),
    plainTextContent: t.string({
      required: true,
      ...text('What it says, as plain text. May be empty.', MAX_COMMENT, 0),
    }),
  }),
});

const PostCommentLikedInput = builder.inputType('PostCommentLikedInput', {
  description: 'A like of a comment.',
  fields: (t) => ({
    postId: t.id({ required: true, ...id(POST_ID) }),
    postCommentId: t.id({ required: true, ...id(COMMENT_ID) }),
    userId: t.id({ required: true, ...id('The id of the member who likes it.') }),
  }),
});

const ActivityKindInput = builder.inputType('ActivityKindInput', {
  description: 'What happened: exactly one of these.',
  isOneOf: true,
  fields: (t) => ({
    memberJoined: t.field({
      type: MemberJoinedInput,
      description: "A member joined, in the community application's own way. Records user.joined.",
    }),
    memberUpdated: t.field({
      type: MemberUpdatedInput,
      description: 'A member changed. Fields left out stay; null clears.',
    }),
    memberDeleted: t.field({
      type: MemberDeletedInput,
      description:
        'Removes the member, and their personal data from the event log. Their posts stay.',
    }),
    postSaved: t.field({
      type: PostSavedInput,
      description:
        'A post was written or changed. The first time it is published, records post.created.',
    }),
    postDeleted: t.field({
      type: PostDeletedInput,
      description: 'Removes the post. One that is saved with its id afterwards is a new one.',
    }),
    postLiked: t.field({ type: PostLikedInput, description: 'Records post.liked.' }),
    postCommentCreated: t.field({
      type: PostCommentCreatedInput,
      description: 'Records post_comment.created.',
    }),
    postCommentLiked: t.field({
      type: PostCommentLikedInput,
      description: 'Records post_comment.liked.',
    }),
  }),
});

const ActivityInput = builder.inputType('ActivityInput', {
  description: 'Something that happened in the community application.',
  fields: (t) => ({
    id: t.id({
      required: true,
      ...id('Chosen by the sender; the same id is recorded once for a brand.'),
    }),
    occurredAt: t.field({
      type: 'DateTime',
      required: true,
      description: "When it happened; the event's timestamp, and when a member joined.",
    }),
    what: t.field({ type: ActivityKindInput, required: true, description: 'What happened.' }),
  }),
});

const RecordActivityInput = builder.inputType('RecordActivityInput', {
  description: "What happened in one brand's community.",
  fields: (t) => ({
    brandId: t.id({ required: true, ...id('The id of the brand.') }),
    activities: t.field({
      type: [ActivityInput],
      required: true,
      ...list('What happened, in the order in which it did.', MAX_ACTIVITIES, 'activities'),
    }),
  }),
});

interface Payload {
  recordedCount?: number;
  skippedCount?: number;
  userErrors: UserError[];
}

const RecordActivityPayload = builder.objectRef<Payload>('RecordActivityPayload').implement({
  description: 'What became of recordActivity.',
  fields: (t) => ({
    recordedCount: t.int({
      nullable: false,
      description: 'How many were new. 0 when the call was refused.',
      resolve: ({ recordedCount = 0 }) => recordedCount,
    }),
    skippedCount: t.int({
      nullable: false,
      description: 'How many had been recorded before. 0 when the call was refused.',
      resolve: ({ skippedCount = 0 }) => skippedCount,
    }),
    userErrors: t.expose('userErrors', {
      type: [UserErrorRef],
      nullable: false,
      description: DESCRIPTIONS.userErrors,
    }),
  }),
});

builder.mutationField('recordActivity', (t) =>
  t.field({
    type: RecordActivityPayload,
    nullable: true,
    description:
      `Records what happened in the community application, at most ${MAX_ACTIVITIES} activities, all or none, in ` +
      'the order given. An activity whose id was recorded before is skipped, so a batch can be sent again. Unknown ' +
      'posts and members are NOT_FOUND; an id that another record has, of any brand, is TAKEN, and so is a username ' +
      'or customAuthSub of another member.',
    args: {
      input: t.arg({ type: RecordActivityInput, required: true, description: 'The call.' }),
    },
    resolve: (_root, { input: { brandId, activities } }, { em }) =>
      // GraphQL has seen to it that each activity is of one kind.
      toPayload(() => recordActivity(em, { brandId, activities: activities as Activity[] })),
  }),
);
