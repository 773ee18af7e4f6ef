import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

import type { BrandSummary, ForBrand } from '../brands/service.ts';
import { creationKey } from '../database/cursors.ts';
import { listOf, type NestedList, type RecordList } from '../database/paging.ts';
import { getRecords, pickChanges, readWritten, type RecordSource } from '../database/records.ts';
import { query } from '../database/statements.ts';
import { laterInstant, writeForBrand } from '../database/write.ts';
import { idNotFound, RefusedError } from '../errors.ts';
import { type NewEvent, toEventUser } from '../events/outbox.ts';
import { GROUPS, replaceGroupsOfMember } from '../groups/service.ts';
import { Member } from './entity.ts';

/** A member as it is read. Instants are PostgreSQL's text. */
export interface MemberRow {
  __typename: 'Member';
  id: string;
  customAuthSub: string | null;
  username: string;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  phoneNumber: string | null;
  isEmailVerified: boolean;
  isBanned: boolean;
  role: string;
  profilePictureUrl: string | null;
  createdAt: string;
}

/** A member without what only reading adds. `createdAt` is ISO 8601 or PostgreSQL's text. */
export type MemberRecord = Omit<MemberRow, '__typename'>;

/** What is known of somebody who joins; what is left out is null, not verified, or CUSTOMER. */
export interface JoiningMember {
  id: string;
  username: string;
  customAuthSub?: string | null;
  firstName?: string | null;
  lastName?: string | null;
  email?: string | null;
  phoneNumber?: string | null;
  isEmailVerified?: boolean | null;
  role?: string | null;
  profilePictureUrl?: string | null;
}

/** The member that somebody becomes who joins. */
export function toNewMember(joining: JoiningMember): Omit<MemberRecord, 'createdAt'> {
  return {
    id: joining.id,
    username: joining.username,
    customAuthSub: joining.customAuthSub ?? null,
    firstName: joining.firstName ?? null,
    lastName: joining.lastName ?? null,
    email: joining.email ?? null,
    phoneNumber: joining.phoneNumber ?? null,
    isEmailVerified: joining.isEmailVerified ?? false,
    isBanned: false,
    role: joining.role ?? 'CUSTOMER',
    profilePictureUrl: joining.profilePictureUrl ?? null,
  };
}

/** The event that tells of a member who has just joined. */
export function toJoinedEvent(member: MemberRecord): NewEvent {
  const { id, email, phoneNumber, createdAt: occurredAt } = member;
  const data = { userId: id, email, phoneNumber, user: toEventUser(id, member) };
  return { type: 'user.joined', occurredAt, data };
}

/** What members are read from. */
export const MEMBERS: RecordSource = {
  name: 'member',
  columns: `
    'Member' as "__typename", t.id, t.custom_auth_sub as "customAuthSub", t.username,
    t.first_name as "firstName", t.last_name as "lastName", t.email,
    t.phone_number as "phoneNumber", t.is_email_verified as "isEmailVerified",
    t.is_banned as "isBanned", t.role, t.profile_picture_url as "profilePictureUrl",
    t.created_at as "createdAt"`,
  from: 'member t',
};

/** Members by id, in the order of the ids; null where the brand has no such member. */
export function getMembers(
  em: EntityManager,
  brand: ForBrand,
  ids: readonly string[],
): Promise<(MemberRow | null)[]> {
  return getRecords(em, brand.id, MEMBERS, ids);
}

/**
 * Members by way of their memberships, whose index holds those of one group in the order in which
 * they were made: a page of a group's members costs as much as a page of all. They are joined by
 * the id alone: knowing that both tables are in this order, PostgreSQL would merge them, and walk
 * from the start of the list of all members to wherever the page lies.
 */
const IN_GROUP = {
  from: 'group_membership m join member t on t.brand_id = m.brand_id and t.id = m.member_id',
  key: { ...creationKey(MEMBERS.name, 'm.member_created_at', 'm.member_id'), isGuided: true },
};

/** The list of a brand's members; with `groupId` only those in that group. */
export function memberList({ groupId }: { groupId?: string | null }): RecordList {
  if (!groupId) return listOf(MEMBERS, []);
  return { ...IN_GROUP, source: MEMBERS, filters: [{ sql: 'm.group_id = ?', value: groupId }] };
}

/** The members of each group, the one that joined the brand first at the start. */
export const MEMBERS_OF_GROUP: NestedList = { ...IN_GROUP, source: MEMBERS, parent: 'm.group_id' };

const OF_MEMBER =
  'group_membership m join member_group t on t.brand_id = m.brand_id and t.id = m.group_id';

/** The groups of each member, the oldest group first. There are at most 100. */
export const GROUPS_OF_MEMBER: NestedList = {
  source: GROUPS,
  from: OF_MEMBER,
  parent: 'm.member_id',
  key: creationKey(GROUPS.name),
};

/** The ids of the groups of each member, in the members' order; the oldest group first. */
export async function readGroupIds(
  em: EntityManager,
  brand: ForBrand,
  memberIds: readonly string[],
): Promise<string[][]> {
  // The memberships first: joined, and without statistics, PostgreSQL would walk the groups instead.
  const text = `
    select wanted.id as "memberId", (
      select coalesce(array_agg(t.id order by t.created_at, t.id), '{}') from member_group t
      where t.brand_id = $1 and t.id = any (array(
        select m.group_id from group_membership m where m.brand_id = $1 and m.member_id = wanted.id))
    ) as ids
    from unnest($2::uuid[]) as wanted (id)`;
  const rows = await query<{ memberId: string; ids: string[] }>(em, text, [brand.id, memberIds]);
  const byMember = new Map(rows.map(({ memberId, ids }) => [memberId, ids]));
  return memberIds.map((id) => byMember.get(id) ?? []);
}

/** What a brand may change in a member. What is left out stays. */
export interface UpdateMemberInput {
  id: string;
  isBanned?: boolean | undefined;
  /** For brands with custom auth only. */
  isEmailVerified?: boolean | undefined;
  /** The whole set of groups that the member is in afterwards; twice the same counts once. */
  groupIds?: string[] | undefined;
}

/**
 * Changes a member, all of it or nothing. Records no event. Banning does not take back a login
 * that was completed before; it stops every magic link and login code that was not.
 *
 * @throws {RefusedError} CUSTOM_AUTH_DISABLED at isEmailVerified, when the brand does not sign its
 *   users in itself; NOT_FOUND at id, or at each of groupIds that is no group of the brand.
 */
export async function updateMember(
  em: EntityManager,
  brand: BrandSummary,
  { id, groupIds, ...fields }: UpdateMemberInput,
): Promise<MemberRow> {
  if (fields.isEmailVerified !== undefined && !brand.customAuthEnabled) {
    throw new RefusedError({
      code: 'CUSTOM_AUTH_DISABLED',
      field: ['isEmailVerified'],
      message:
        'Only a brand with custom auth says whether an email is verified; the operator enables it.',
    });
  }
  return writeForBrand(em, brand.id, async (tx) => {
    const member = await tx.findOne(Member, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!member) throw new RefusedError(idNotFound('member', id));
    if (groupIds) await replaceGroupsOfMember(tx, brand, id, groupIds);
    const changes = pickChanges(member, fields);
    if (changes) tx.assign(member, { ...changes, updatedAt: laterInstant() });
    await tx.flush();
    return readWritten<MemberRow>(tx, brand.id, MEMBERS, id);
  });
}
