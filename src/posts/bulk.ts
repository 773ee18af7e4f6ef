import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand } from '../brands/service.ts';
import { queryInside } from '../database/statements.ts';

/** What is known of a post before it is saved again. */
export interface KnownPost {
  id: string;
  title: string;
  isPinned: boolean;
  type: string;
  /** ISO 8601 or PostgreSQL's text. */
  publishedAt: string | null;
  /** Whether it ever was published. */
  wasPublished: boolean;
}

/** A post as the community application has it. */
export interface PostRecord extends KnownPost {
  roomId: string;
  userId: string;
  contentHtml: string;
  isPublished: boolean;
  /** ISO 8601. */
  createdAt: string;
}

/** The posts of a brand with the ids, with one statement. */
export function findPostsByIds(
  tx: EntityManager,
  brand: ForBrand,
  ids: readonly string[],
): Promise<KnownPost[]> {
  return queryInside<KnownPost>(
    tx,
    `select id, title, is_pinned as "isPinned", type, published_at as "publishedAt",
       was_published as "wasPublished"
     from post where brand_id = $1 and id = any ($2::uuid[])`,
    [brand.id, ids],
  );
}

const COLUMNS: [column: string, field: keyof PostRecord, type: string][] = [
  ['room_id', 'roomId', 'uuid'],
  ['user_id', 'userId', 'uuid'],
  ['title', 'title', 'text'],
  ['content_html', 'contentHtml', 'text'],
  ['is_pinned', 'isPinned', 'boolean'],
  ['type', 'type', 'text'],
  ['is_published', 'isPublished', 'boolean'],
  ['published_at', 'publishedAt', 'timestamptz(3)'],
  ['was_published', 'wasPublished', 'boolean'],
  ['created_at', 'createdAt', 'timestamptz(3)'],
];

/**
 * Inserts posts, or replaces those of the brand that are there, with one statement. One that stands
 * exactly so is not written. An id that another brand has taken meanwhile is a unique violation.
 */
export async function savePosts(
  tx: EntityManager,
  brand: ForBrand,
  posts: readonly PostRecord[],
): Promise<void> {
  if (posts.length === 0) return;
  const names = COLUMNS.map(([column]) => column).join(', ');
  const given = COLUMNS.map(([column]) => `excluded.${column}`);
  await queryInside(
    tx,
    `insert into post as t (id, brand_id, ${names})
     select id, $1, ${COLUMNS.map(([, field]) => `"${field}"`).join(', ')}
     from json_to_recordset($2::json) as r (
       id uuid, ${COLUMNS.map(([, field, type]) => `"${field}" ${type}`).join(', ')})
     on conflict (brand_id, id) do update set (${names}, updated_at) =
       (${given.join(', ')}, greatest(clock_timestamp(), t.updated_at + interval '1 millisecond'))
     where (${COLUMNS.map(([column]) => `t.${column}`).join(', ')}) is distinct from (${given.join(', ')})`,
    [brand.id, JSON.stringify(posts)],
  );
}

/** Deletes posts by id with one statement. */
export async function deletePosts(
  tx: EntityManager,
  brand: ForBrand,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const text = 'delete from post where brand_id = $1 and id = any ($2::uuid[])';
  await queryInside(tx, text, [brand.id, ids]);
}
