import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand } from '../brands/service.ts';
import { type Filter, listOf, type RecordList } from '../database/paging.ts';
import { getRecords, type RecordSource } from '../database/records.ts';

/** A post as it is read. Instants are PostgreSQL's text. */
export interface PostRow {
  __typename: 'Post';
  id: string;
  roomId: string;
  userId: string;
  title: string;
  contentHtml: string;
  isPinned: boolean;
  type: string;
  isPublished: boolean;
  publishedAt: string | null;
  createdAt: string;
}

/** What posts are read from. */
const POSTS: RecordSource = {
  name: 'post',
  columns: `
    'Post' as "__typename", t.id, t.room_id as "roomId", t.user_id as "userId", t.title,
    t.content_html as "contentHtml", t.is_pinned as "isPinned", t.type,
    t.is_published as "isPublished", t.published_at as "publishedAt", t.created_at as "createdAt"`,
  from: 'post t',
};

/** Posts by id, in the order of the ids; null where the brand has no such post. */
export function getPosts(
  em: EntityManager,
  brand: ForBrand,
  ids: readonly string[],
): Promise<(PostRow | null)[]> {
  return getRecords(em, brand.id, POSTS, ids);
}

interface PostListInput {
  /** Only posts of this room. */
  roomId?: string | null;
  /** ISO 8601. Only posts that were written after this instant, strictly. */
  createdAtAfter?: string | null;
}

/** The list of a brand's posts, unpublished ones included. */
export function postList({ roomId, createdAtAfter }: PostListInput): RecordList {
  const filters: Filter[] = [];
  if (roomId) filters.push({ sql: 't.room_id = ?', value: roomId });
  if (createdAtAfter) {
    filters.push({ sql: 't.created_at > ?::timestamptz', value: createdAtAfter });
  }
  return listOf(POSTS, filters);
}
