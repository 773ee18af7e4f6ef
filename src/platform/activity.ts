import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand } from '../brands/service.ts';
import { queryInside } from '../database/statements.ts';
import { writeInTurn } from '../database/turns.ts';
import { LostRaceError, retryLostRace } from '../database/write.ts';
import { idNotFound, RefusedError } from '../errors.ts';
import { forgetMembers, recordEvents } from '../events/outbox.ts';
import { deleteMembers, findMembersBy, insertMembers, patchMembers } from '../members/bulk.ts';
import { deletePosts, findPostsByIds, savePosts } from '../posts/bulk.ts';
import { type Activity, type ActivityKinds, Community } from './community.ts';

/** The most activities in one call. */
export const MAX_ACTIVITIES = 500;

/** What became of a call: how many of its activities were new, and how many were known. */
interface RecordedCounts {
  recordedCount: number;
  skippedCount: number;
}

/** The tables of records with ids of their own: an id that one of them holds is no new record's. */
export const RECORD_TABLES = [
  'event',
  'brand',
  'api_key',
  'member',
  'member_group',
  'post',
  'product',
  'product_variant',
];

/**
 * Records what happened in the community application, in the order given, in one transaction. An
 * activity whose id was recorded for this brand before, or stands further up in the call, is
 * skipped. Records `user.joined`, `post.created` (the first time that a post is published),
 * `post.liked`, `post_comment.created` and `post_comment.liked`.
 *
 * However many activities there are, it takes at most 16 statements: all that they name is read
 * first, they are played through in memory, and what has become of it is written.
 *
 * @throws {RefusedError} with a refusal for each activity that is at fault, and nothing is recorded:
 *   NOT_FOUND at brandId, or at the post or member that an activity names; TAKEN at an id that any
 *   record has, or at the username or customAuthSub that another member of the brand has.
 */
export async function recordActivity(
  em: EntityManager,
  { brandId, activities }: { brandId: string; activities: Activity[] },
): Promise<RecordedCounts> {
  const brand = { id: brandId };
  const work = async (tx: EntityManager) => {
    const [known] = await queryInside(tx, 'select 1 from brand where id = $1', [brandId]);
    if (!known) throw new RefusedError(idNotFound('brand', brandId, ['brandId']));
    const fresh = await takeNew(tx, brand, activities);
    const community = await readCommunity(tx, brand, fresh);
    for (const [index, activity] of fresh) community.play(index, activity);
    if (community.userErrors.length > 0) throw new RefusedError(...community.userErrors);
    await writeCommunity(tx, brand, community);
    return { recordedCount: fresh.size, skippedCount: activities.length - fresh.size };
  };
  // A magic link may make a member meanwhile and take the username, or another brand take an id.
  return retryLostRace(() => writeInTurn(em, brandId, work));
}

/** Marks activities as recorded, and gives those that were not, by their place in the call. */
async function takeNew(
  tx: EntityManager,
  brand: ForBrand,
  activities: readonly Activity[],
): Promise<Map<number, Activity>> {
  const rows = await queryInside<{ id: string }>(
    tx,
    `insert into activity (brand_id, id) select $1, id from unnest($2::uuid[]) as a (id)
     on conflict do nothing returning id`,
    [brand.id, activities.map(({ id }) => id)],
  );
  const untaken = new Set(rows.map(({ id }) => id));
  // Of two with one id the first is taken, and the id is then used up.
  return new Map([...activities.entries()].filter(([, { id }]) => untaken.delete(id)));
}

/** Reads what activities name. */
async function readCommunity(
  tx: EntityManager,
  brand: ForBrand,
  activities: ReadonlyMap<number, Activity>,
): Promise<Community> {
  const inputsOf = <Kind extends keyof ActivityKinds>(...kinds: Kind[]) =>
    [...activities.values()].flatMap(({ what }) =>
      kinds.flatMap((kind) => (what[kind] ? [what[kind]] : [])),
    );
  const joined = inputsOf('memberJoined');
  const updated = inputsOf('memberUpdated');
  const saved = inputsOf('postSaved');
  const ofPosts = inputsOf('postLiked', 'postCommentCreated', 'postCommentLiked');

  const memberIds = [...joined, ...updated, ...inputsOf('memberDeleted')].map(({ id }) => id);
  const userIds = [...saved, ...ofPosts].map(({ userId }) => userId);
  const postIds = [...saved, ...inputsOf('postDeleted')].map(({ id }) => id);
  const newIds = [...joined, ...saved].map(({ id }) => id);

  const members = await findMembersBy(tx, brand, {
    ids: unique([...memberIds, ...userIds]),
    usernames: unique([...joined, ...updated].map(({ username }) => username)),
    customAuthSubs: unique(joined.map(({ customAuthSub }) => customAuthSub)),
  });
  const allPostIds = unique([...postIds, ...ofPosts.map(({ postId }) => postId)]);
  const posts = allPostIds.length > 0 ? await findPostsByIds(tx, brand, allPostIds) : [];
  return new Community(members, posts, await findHeldIds(tx, unique(newIds)));
}

function unique(values: readonly (string | null | undefined)[]): string[] {
  return [...new Set(values.filter((value) => typeof value === 'string'))];
}

/** Those of the ids that some record has, of whatever type and brand. */
async function findHeldIds(tx: EntityManager, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const selects = RECORD_TABLES.map(
    (table) => `select id from ${table} where id = any ($1::uuid[])`,
  );
  const rows = await queryInside<{ id: string }>(tx, selects.join(' union all '), [ids]);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Writes what the activities have changed. Members come last: they are what other calls wait for,
 * each with a connection.
 */
async function writeCommunity(
  tx: EntityManager,
  brand: ForBrand,
  community: Community,
): Promise<void> {
  const { members, posts } = community.readChanges();
  await changeChosenIds(tx, {
    freed: [...members.deleted, ...posts.deleted],
    chosen: [...members.inserted.map(({ id }) => id), ...posts.added],
  });
  await deletePosts(tx, brand, posts.deleted);
  await savePosts(tx, brand, posts.saved);
  if (members.forgotten.length > 0) await forgetMembers(tx, brand.id, members.forgotten);
  await recordEvents(tx, brand.id, community.events);
  await deleteMembers(tx, brand, members.deleted);
  await patchMembers(tx, brand, members.patched);
  const inserted = await insertMembers(tx, brand, members.inserted);
  // A magic link has just given one of their customAuthSubs to somebody.
  if (inserted.length < members.inserted.length) throw new LostRaceError();
}

/**
 * Takes ids for new records, which the index grants once: of two that choose one id at once, for
 * whatever type and brand, the second waits, fails, and finds the first when it looks again.
 */
async function changeChosenIds(
  tx: EntityManager,
  { freed, chosen }: { freed: string[]; chosen: string[] },
): Promise<void> {
  if (freed.length > 0) {
    await queryInside(tx, 'delete from chosen_id where id = any ($1::uuid[])', [freed]);
  }
  if (chosen.length > 0) {
    // In order, so that two calls that choose several cannot wait for each other.
    const text = 'insert into chosen_id select id from unnest($1::uuid[]) as c (id) order by id';
    await queryInside(tx, text, [chosen]);
  }
}
