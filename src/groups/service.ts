import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand } from '../brands/service.ts';
import { newId } from '../database/ids.ts';
import { listOf, type RecordList } from '../database/paging.ts';
import { getRecords, pickChanges, readWritten, type RecordSource } from '../database/records.ts';
import { queryInside } from '../database/statements.ts';
import { laterInstant, writeForBrand } from '../database/write.ts';
import { idNotFound, RefusedError } from '../errors.ts';
import { MemberGroup } from './entity.ts';

/** A group as it is read; the badge's fields are all null, or none is. Instants are PostgreSQL's text. */
export interface MemberGroupRow {
  __typename: 'MemberGroup';
  id: string;
  name: string;
  badgeId: string | null;
  badgeName: string | null;
  badgeForegroundColor: string | null;
  badgeBackgroundColor: string | null;
  createdAt: string;
}

/** The badge of a group as it is shown. */
export interface Badge extends BadgeInput {
  id: string;
}

/** The badge of a group, or null. */
export function badgeOf(group: MemberGroupRow): Badge | null {
  if (group.badgeId === null) return null;
  return {
    id: group.badgeId,
    name: group.badgeName!,
    foregroundColor: group.badgeForegroundColor!,
    backgroundColor: group.badgeBackgroundColor!,
  };
}

/** What groups are read from. */
export const GROUPS: RecordSource = {
  name: 'group',
  columns: `
    'MemberGroup' as "__typename", t.id, t.name, t.badge_id as "badgeId", t.badge_name as "badgeName",
    t.badge_foreground_color as "badgeForegroundColor",
    t.badge_background_color as "badgeBackgroundColor", t.created_at as "createdAt"`,
  from: 'member_group t',
};

/** Groups by id, in the order of the ids; null where the brand has no such group. */
export function getGroups(
  em: EntityManager,
  brand: ForBrand,
  ids: readonly string[],
): Promise<(MemberGroupRow | null)[]> {
  return getRecords(em, brand.id, GROUPS, ids);
}

/** The list of a brand's groups. */
export function groupList(): RecordList {
  return listOf(GROUPS, []);
}

/** A badge as it is asked for. Colours are `#` and six hex digits. */
export interface BadgeInput {
  name: string;
  foregroundColor: string;
  backgroundColor: string;
}

/** What a new group is made of; without a badge unless told. */
export interface CreateGroupInput {
  name: string;
  brandMemberBadge?: BadgeInput | null;
}

/** Makes a group, without members. Records no event. */
export async function createGroup(
  em: EntityManager,
  brand: ForBrand,
  { name, brandMemberBadge }: CreateGroupInput,
): Promise<MemberGroupRow> {
  const id = newId();
  return writeForBrand(em, brand.id, async (tx) => {
    const badge = brandMemberBadge ? toColumns(newId(), brandMemberBadge) : NO_BADGE;
    tx.create(MemberGroup, { id, brandId: brand.id, name, ...badge });
    await tx.flush();
    return readWritten<MemberGroupRow>(tx, brand.id, GROUPS, id);
  });
}

/** What may change in a group. What is left out stays; null removes the badge. */
export interface UpdateGroupInput {
  id: string;
  name?: string | undefined;
  brandMemberBadge?: BadgeInput | null | undefined;
}

/**
 * Changes a group. A badge that is changed keeps its id; one that was removed and is given again
 * has a new one. Records no event.
 *
 * @throws {RefusedError} NOT_FOUND, when the brand has no group with that id.
 */
export async function updateGroup(
  em: EntityManager,
  brand: ForBrand,
  { id, name, brandMemberBadge }: UpdateGroupInput,
): Promise<MemberGroupRow> {
  return writeForBrand(em, brand.id, async (tx) => {
    const group = await tx.findOne(MemberGroup, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!group) throw new RefusedError(idNotFound('group', id));
    const badge = changeBadge(group, brandMemberBadge);
    const changes = pickChanges(group, { name, ...badge });
    if (changes) tx.assign(group, { ...changes, updatedAt: laterInstant() });
    await tx.flush();
    return readWritten<MemberGroupRow>(tx, brand.id, GROUPS, id);
  });
}

const NO_BADGE = {
  badgeId: null,
  badgeName: null,
  badgeForegroundColor: null,
  badgeBackgroundColor: null,
};

function changeBadge({ badgeId }: MemberGroup, badge: BadgeInput | null | undefined) {
  if (badge === undefined) return {};
  return badge === null ? NO_BADGE : toColumns(badgeId ?? newId(), badge);
}

function toColumns(badgeId: string, { name, foregroundColor, backgroundColor }: BadgeInput) {
  return {
    badgeId,
    badgeName: name,
    badgeForegroundColor: foregroundColor,
    badgeBackgroundColor: backgroundColor,
  };
}

/**
 * Replaces the whole set of groups that a member is in, inside the transaction of `tx`, which holds
 * the member's lock. Twice the same id counts once.
 *
 * @throws {RefusedError} NOT_FOUND for every id that is no group of the brand, at its place in
 *   `groupIds`.
 */
export async function replaceGroupsOfMember(
  tx: EntityManager,
  brand: ForBrand,
  memberId: string,
  groupIds: readonly string[],
): Promise<void> {
  // Locked, so that no group goes away before its membership is there.
  const groups = await queryInside<{ id: string }>(
    tx,
    'select id from member_group where brand_id = $1 and id = any ($2::uuid[]) order by id for key share',
    [brand.id, groupIds],
  );
  const known = new Set(groups.map(({ id }) => id));
  const unknown = [...groupIds.entries()].filter(([, id]) => !known.has(id));
  if (unknown.length > 0) {
    const refusals = unknown.map(([index, id]) =>
      idNotFound('group', id, ['groupIds', String(index)]),
    );
    throw new RefusedError(...refusals);
  }
  await queryInside(
    tx,
    `delete from group_membership
     where brand_id = $1 and member_id = $2 and group_id <> all ($3::uuid[])`,
    [brand.id, memberId, groupIds],
  );
  await queryInside(
    tx,
    `insert into group_membership (brand_id, group_id, member_id, member_created_at)
     select m.brand_id, g.id, m.id, m.created_at
     from member m, unnest($3::uuid[]) as g (id) where m.brand_id = $1 and m.id = $2
     on conflict do nothing`,
    [brand.id, memberId, groupIds],
  );
}
