import { NotFoundError } from '../errors.ts';
import { builder, ListOrder } from '../graphql/builder.ts';
import { defineConnection, readConnection } from '../graphql/connections.ts';
import type { Context } from '../graphql/context.ts';
import { id } from '../graphql/input.ts';
import { addNodeType } from '../graphql/nodes.ts';
import { memberLoader, MemberRef } from '../members/schema.ts';
import { getPosts, postList, type PostRow } from './service.ts';

export const PostRef = builder.objectRef<PostRow>('Post');
const PostConnection = defineConnection(PostRef, 'posts');

builder.node(PostRef, {
  description: 'What a member has written in the community. Read only here.',
  id: { resolve: ({ id: postId }) => postId },
  fields: (t) => ({
    roomId: t.exposeID('roomId', {
      nullable: false,
      description: 'The id of the room of the community that it stands in.',
    }),
    userId: t.exposeID('userId', { nullable: false, description: "The author's id." }),
    user: t.field({
      type: MemberRef,
      nullable: true,
      description: 'The author. Null when they have been deleted, or never were known here.',
      resolve: ({ userId }, _args, context) => memberLoader(context).load(userId),
    }),
    title: t.exposeString('title', { nullable: false, description: 'Its title.' }),
    contentHtml: t.exposeString('contentHtml', {
      nullable: false,
      description:
        'Its text as HTML, exactly as it was written and not made safe: sanitize it before you show it.',
    }),
    isPinned: t.exposeBoolean('isPinned', {
      nullable: false,
      description: 'Whether it is kept at the top of its room.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When it was written.',
    }),
    type: t.exposeString('type', { nullable: false, description: 'What kind it is, as in TEXT.' }),
    publishedAt: t.expose('publishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was published, also of one that no longer is; null when it never was.',
    }),
    isPublished: t.exposeBoolean('isPublished', {
      nullable: false,
      description: 'Whether the community can read it now.',
    }),
  }),
});

addNodeType({
  typename: 'Post',
  table: 'post',
  getRows: ({ em, viewer }, ids) => getPosts(em, viewer.brand, ids),
});

/** Reads posts by id, those of one level of a query together. */
export function postLoader({ em, loaders, viewer }: Context) {
  return loaders.get('post', (ids) => getPosts(em, viewer.brand, ids));
}

builder.queryFields((t) => ({
  post: t.field({
    type: PostRef,
    nullable: true,
    description: 'A post. An unknown one is null, with an error NOT_FOUND.',
    args: { id: t.arg.id({ required: true, ...id('The id of the post.') }) },
    resolve: async (_root, args, context) => {
      const post = await postLoader(context).load(args.id);
      if (!post) throw new NotFoundError(`There is no post with the id ${args.id}.`);
      return post;
    },
  }),
  posts: t.connection(
    {
      type: PostRef,
      nullable: true,
      description: 'What was written in the community, by when it was written; drafts too.',
      args: {
        order: t.arg({
          type: ListOrder,
          required: false,
          description: 'NEWEST_FIRST unless told.',
        }),
        roomId: t.arg.id({ required: false, ...id('Only posts in the room with this id.') }),
        createdAtAfter: t.arg({
          type: 'DateTime',
          required: false,
          description: 'Only posts that were written after this instant, strictly.',
        }),
      },
      resolve: (_root, args, context) =>
        readConnection<PostRow>(context, postList(args), {
          ...args,
          order: args.order ?? 'NEWEST_FIRST',
        }),
    },
    PostConnection,
  ),
}));
