import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand } from '../brands/service.ts';
import { queryInside } from '../database/statements.ts';
import { type MemberRecord, type MemberRow, MEMBERS } from './service.ts';

/** What the community application may change in a member; what is left out stays. */
export type MemberPatch = Partial<
  Omit<MemberRecord, 'id' | 'customAuthSub' | 'isBanned' | 'createdAt'>
>;

/** What to look members up by; a member that fits in one way is found. */
interface MemberLookUp {
  ids: string[];
  usernames: string[];
  customAuthSubs: string[];
}

/**
 * The members of a brand with one of the ids, usernames or customAuthSubs, with one statement; one
 * that fits in several ways is given several times.
 */
export function findMembersBy(
  tx: EntityManager,
  brand: ForBrand,
  { ids, usernames, customAuthSubs }: MemberLookUp,
): Promise<MemberRow[]> {
  const text = [
    lookUp('$2::uuid[]', 'id'),
    lookUp('$3::text[]', 'username'),
    lookUp('$4::text[]', 'custom_auth_sub'),
  ].join(' union all ');
  return queryInside<MemberRow>(tx, text, [brand.id, ids, usernames, customAuthSubs]);
}

/**
 * One look-up by an index for each value. The limit keeps PostgreSQL from reading the members of a
 * whole brand, or of all, which it likes to do while it has no statistics of a table that grows.
 */
function lookUp(values: string, column: string): string {
  return `select ${MEMBERS.columns} from unnest(${values}) as k (value) cross join lateral (
    select * from member m where m.brand_id = $1 and m.${column} = k.value limit 1) t`;
}

/**
 * Inserts members with one statement, and gives the ids of those inserted: one whose customAuthSub
 * another member has, or is just being given, is passed over. One without `createdAt` joins now.
 */
export async function insertMembers(
  tx: EntityManager,
  brand: ForBrand,
  members: readonly (Omit<MemberRecord, 'createdAt'> & { createdAt?: string })[],
): Promise<string[]> {
  if (members.length === 0) return [];
  const rows = await queryInside<{ id: string }>(
    tx,
    `insert into member (
       id, brand_id, username, custom_auth_sub, first_name, last_name, email, phone_number,
       is_email_verified, is_banned, role, profile_picture_url, created_at)
     select id, $1, username, "customAuthSub", "firstName", "lastName", email, "phoneNumber",
       "isEmailVerified", "isBanned", role, "profilePictureUrl", coalesce("createdAt", clock_timestamp())
     from json_to_recordset($2::json) as r (
       id uuid, username text, "customAuthSub" text, "firstName" text, "lastName" text, email text,
       "phoneNumber" text, "isEmailVerified" boolean, "isBanned" boolean, role text,
       "profilePictureUrl" text, "createdAt" timestamptz)
     on conflict (brand_id, custom_auth_sub) do nothing returning id`,
    [brand.id, JSON.stringify(members)],
  );
  return rows.map(({ id }) => id);
}

const TEXT_COLUMNS: [column: string, field: keyof MemberPatch][] = [
  ['username', 'username'],
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['email', 'email'],
  ['phone_number', 'phoneNumber'],
  ['role', 'role'],
  ['profile_picture_url', 'profilePictureUrl'],
];

/**
 * Changes members by id with one statement. Only the fields of a patch are written, whatever else
 * has changed in the member meanwhile. A username may pass from one member to another.
 */
export async function patchMembers(
  tx: EntityManager,
  brand: ForBrand,
  patches: ReadonlyMap<string, MemberPatch>,
): Promise<void> {
  if (patches.size === 0) return;
  const changes = [...patches].map(([id, patch]) => ({ id, patch }));
  const updates = TEXT_COLUMNS.map(
    ([column, field]) =>
      `${column} = case when patch ? '${field}' then patch ->> '${field}' else t.${column} end`,
  );
  await queryInside(
    tx,
    `update member t set ${updates.join(', ')},
       is_email_verified = coalesce((patch ->> 'isEmailVerified')::boolean, t.is_email_verified),
       updated_at = greatest(clock_timestamp(), t.updated_at + interval '1 millisecond')
     from jsonb_to_recordset($2::jsonb) as c (id uuid, patch jsonb)
     where t.brand_id = $1 and t.id = c.id`,
    [brand.id, JSON.stringify(changes)],
  );
}

/** Deletes members by id with one statement, and with them their memberships and magic links. */
export async function deleteMembers(
  tx: EntityManager,
  brand: ForBrand,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const text = 'delete from member where brand_id = $1 and id = any ($2::uuid[])';
  await queryInside(tx, text, [brand.id, ids]);
}
