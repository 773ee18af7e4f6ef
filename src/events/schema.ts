import { BrandRef } from '../brands/schema.ts';
import { builder } from '../graphql/builder.ts';
import { readSize } from '../graphql/connections.ts';
import type { Context } from '../graphql/context.ts';
import { list } from '../graphql/input.ts';
import { addNodeType } from '../graphql/nodes.ts';
import { memberLoader, MemberRef } from '../members/schema.ts';
import { postLoader, PostRef } from '../posts/schema.ts';
import { type EventRow, getEvents, readEndCursor, readLog } from './log.ts';
import { EVENT_TYPES, type EventType } from './outbox.ts';

/** The types in GraphQL, each with its name in the enum and what it tells of. */
const TYPES = {
  'user.joined': {
    value: 'USER_JOINED',
    typename: 'UserJoinedEvent',
    about: 'Somebody became a member.',
  },
  'post.created': {
    value: 'POST_CREATED',
    typename: 'PostCreatedEvent',
    about: 'A post was published for the first time.',
  },
  'post.liked': {
    value: 'POST_LIKED',
    typename: 'PostLikedEvent',
    about: 'A member liked a post.',
  },
  'post_comment.created': {
    value: 'POST_COMMENT_CREATED',
    typename: 'PostCommentCreatedEvent',
    about: 'A member commented on a post.',
  },
  'post_comment.liked': {
    value: 'POST_COMMENT_LIKED',
    typename: 'PostCommentLikedEvent',
    about: 'A member liked a comment on a post.',
  },
} as const satisfies Record<EventType, { value: string; typename: string; about: string }>;

const EventTypeEnum = builder.enumType('EventType', {
  description: 'What an event tells of. Webhooks carry the name in its description.',
  values: Object.fromEntries(
    EVENT_TYPES.map((type) => [
      TYPES[type].value,
      { value: type, description: `\`${type}\`: ${TYPES[type].about}` },
    ]),
  ),
});

const EventUser = builder.objectRef<EventRow['data']['user']>('EventUser').implement({
  description:
    'The user object that events carry, as it was then. On the wire of a webhook userId is called id.',
  fields: (t) => ({
    userId: t.exposeID('id', { nullable: false, description: "The member's id." }),
    customAuthSub: t.exposeString('customAuthSub', {
      nullable: true,
      description:
        "The brand's own identifier of the user. Null when unknown, when the member was deleted since, and to a credential without members:pii.",
    }),
    email: t.exposeString('email', {
      nullable: true,
      description:
        'Their email address. Null when unknown, when the member was deleted since, and to a credential without members:pii.',
    }),
  }),
});

const EventRef = builder.interfaceRef<EventRow>('Event').implement({
  description:
    "Something that happened in the brand's community. It stands in the brand's log, at a place that never changes.",
  interfaces: [builder.nodeInterfaceRef()] as never,
  resolveType: ({ type }) => TYPES[type].typename,
  fields: (t) => ({
    id: t.exposeID('id', {
      nullable: false,
      description: 'Also the webhook-id header of every delivery of this event.',
    }),
    cursor: t.exposeString('cursor', {
      nullable: false,
      description: 'Resumes a subscription, or pages events, right behind this event.',
    }),
    type: t.field({
      type: EventTypeEnum,
      nullable: false,
      description: 'What it tells of.',
      resolve: ({ type }) => type,
    }),
    timestamp: t.expose('timestamp', {
      type: 'DateTime',
      nullable: false,
      description:
        'When it happened. Events are in the order in which they were recorded, which may be another.',
    }),
  }),
});

type Fields<Type extends EventType> = PothosSchemaTypes.ObjectFieldBuilder<
  typeof builder.$inferSchemaTypes,
  EventRow<Type>
>;

type OfPost = Exclude<EventType, 'user.joined'>;
type OfComment = Extract<EventType, `post_comment.${string}`>;

/** The fields of who did it, which all events have. */
function userFields<Type extends EventType>(t: Fields<Type>) {
  return {
    userId: t.id({
      nullable: false,
      description: 'The id of the member who did it.',
      resolve: (event) => event.data.userId,
    }),
    user: t.field({
      type: EventUser,
      nullable: false,
      description: 'The member who did it, as they were then.',
      resolve: (event) => event.data.user,
    }),
  };
}

/** The fields of the post that it was done to. */
function postFields<Type extends OfPost>(t: Fields<Type>) {
  return {
    postId: t.id({
      nullable: false,
      description: 'The id of the post.',
      resolve: (event) => event.data.postId,
    }),
    post: t.field({
      type: PostRef,
      nullable: true,
      description: 'The post as it is now; null when it was deleted since.',
      resolve: (event, _args, context) => postLoader(context).load(event.data.postId),
    }),
  };
}

/** The fields of the comment that it was done with. */
function commentFields<Type extends OfComment>(t: Fields<Type>) {
  return {
    postTitle: t.string({
      nullable: false,
      description: 'The title that the post had then.',
      resolve: (event) => event.data.postTitle,
    }),
    postCommentId: t.id({
      nullable: false,
      description: 'The id of the comment.',
      resolve: (event) => event.data.postCommentId,
    }),
  };
}

function describe(type: EventType): string {
  return `${TYPES[type].about} \`${type}\` on the wire of a webhook.`;
}

const interfaces = [builder.nodeInterfaceRef(), EventRef] as never;

builder.objectRef<EventRow<'user.joined'>>('UserJoinedEvent').implement({
  description: describe('user.joined'),
  interfaces,
  fields: (t) => ({
    ...userFields(t),
    email: t.string({
      nullable: true,
      description:
        'Their email address then. Null when unknown, when they were deleted since, and to a credential without members:pii.',
      resolve: ({ data }) => data.email,
    }),
    phoneNumber: t.string({
      nullable: true,
      description:
        'Their phone number then. Null when unknown, when they were deleted since, and to a credential without members:pii.',
      resolve: ({ data }) => data.phoneNumber,
    }),
    member: t.field({
      type: MemberRef,
      nullable: true,
      description: 'The member as they are now; null when they were deleted since.',
      resolve: ({ data }, _args, context) => memberLoader(context).load(data.userId),
    }),
  }),
});

builder.objectRef<EventRow<'post.created'>>('PostCreatedEvent').implement({
  description: describe('post.created'),
  interfaces,
  fields: (t) => ({
    ...userFields(t),
    ...postFields(t),
    title: t.string({
      nullable: false,
      description: 'The title that the post had then.',
      resolve: ({ data }) => data.title,
    }),
  }),
});

builder.objectRef<EventRow<'post.liked'>>('PostLikedEvent').implement({
  description: describe('post.liked'),
  interfaces,
  fields: (t) => ({ ...userFields(t), ...postFields(t) }),
});

builder.objectRef<EventRow<'post_comment.created'>>('PostCommentCreatedEvent').implement({
  description: describe('post_comment.created'),
  interfaces,
  fields: (t) => ({
    ...userFields(t),
    ...postFields(t),
    ...commentFields(t),
    plainTextContent: t.string({
      nullable: false,
      description: 'What the comment says, as plain text.',
      resolve: ({ data }) => data.plainTextContent,
    }),
  }),
});

builder.objectRef<EventRow<'post_comment.liked'>>('PostCommentLikedEvent').implement({
  description: describe('post_comment.liked'),
  interfaces,
  fields: (t) => ({ ...userFields(t), ...postFields(t), ...commentFields(t) }),
});

/** `node` finds a row's type by its `__typename`. */
addNodeType({
  typename: 'Event',
  table: 'event',
  getRows: async ({ em, viewer }, ids) => {
    const events = await getEvents(em, viewer.brand.id, ids);
    return events.map(
      (event) => event && Object.assign(event, { __typename: TYPES[event.type].typename }),
    );
  },
});

const EventConnection = builder.connectionObject(
  { type: EventRef, name: 'EventConnection', description: "A page of the brand's event log." },
  builder.edgeObject({
    type: EventRef,
    name: 'EventEdge',
    description: 'One of the events on a page, with its cursor.',
  }),
);

builder.objectField(BrandRef, 'eventCursor', (t) =>
  t.string({
    nullable: true,
    description:
      "The present end of the brand's event log, also while it is empty: subscribe after it to miss nothing from now on.",
    resolve: ({ id }, _args, { em }) => readEndCursor(em, id),
  }),
);

/** The most types that can be asked for at once: each once, and each again. */
const MAX_TYPES = 10;

builder.queryField('events', (t) =>
  t.connection(
    {
      type: EventRef,
      nullable: true,
      description:
        "The brand's event log, oldest first: the same events, in the same order and with the same cursors, as the " +
        'subscriptions. Without `after` it begins with the oldest event that is still kept; with one behind which ' +
        'events are no longer kept, the error is CURSOR_EXPIRED and gives `oldestCursor`, behind which they are.',
      args: {
        types: t.arg({
          type: [EventTypeEnum],
          required: { list: false, items: true },
          ...list('Only events of these types; all of them when it is empty.', MAX_TYPES, 'types'),
        }),
      },
      resolve: (_root, args, context) => readEvents(context, args),
    },
    EventConnection,
  ),
);

interface EventsArguments {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  types?: string[] | null;
}

async function readEvents({ em, viewer }: Context, args: EventsArguments) {
  const { size, isBackward } = readSize(args);
  const { events, hasNextPage, hasPreviousPage } = await readLog(em, viewer.brand.id, {
    after: args.after ?? null,
    before: args.before ?? null,
    size,
    isBackward,
    types: (args.types ?? []) as EventType[],
  });
  const [startCursor = null] = events.map(({ cursor }) => cursor);
  const endCursor = events.at(-1)?.cursor ?? null;
  return {
    edges: events.map((node) => ({ cursor: node.cursor, node })),
    pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor },
  };
}
