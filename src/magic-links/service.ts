import { createHash, randomBytes } from 'node:crypto';

import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

import type { ForBrand, MagicLinkDelivery } from '../brands/service.ts';
import { newId } from '../database/ids.ts';
import { pickChanges, readWritten } from '../database/records.ts';
import { query, queryInside } from '../database/statements.ts';
import { laterInstant, LostRaceError, retryLostRace, writeForBrand } from '../database/write.ts';
import { RefusedError, type UserError } from '../errors.ts';
import { recordEvents } from '../events/outbox.ts';
import { insertMembers } from '../members/bulk.ts';
import { Member } from '../members/entity.ts';
import { type MemberRow, MEMBERS, toJoinedEvent, toNewMember } from '../members/service.ts';
import { inventUsername } from '../members/usernames.ts';

/** For how long a link can be spent. */
export const LINK_LIFETIME_MINUTES = 15;

/** For how long a link that has expired is known, so that its page can say so. */
const KEPT_DAYS = 30;

/** How many of those that are no longer known a new link clears away. */
const CLEARED_AT_ONCE = 20;

const TOKEN_BYTES = 32;

/** What goes out of the process with a link. */
export interface LinkOutlet {
  /** The address of the page that spends the link with a token. */
  toUrl: (token: string) => string;
  /**
   * Mails a link, and waits until a mail server has taken it.
   * Throws RefusedError: MAIL_UNAVAILABLE, or INVALID at email when the server refuses the address.
   */
  sendLink: (mail: { to: string; brandName: string; url: string }) => Promise<void>;
}

/** For whom a link is asked for. What is left out is null on a new member, and stays on a known one. */
export interface CreateMagicLinkInput {
  /** The brand's own identifier of the user. */
  customAuthSub: string;
  email?: string | null;
  phoneNumber?: string | null;
  isEmailVerified?: boolean | null;
  firstName?: string | null;
  lastName?: string | null;
  profilePictureUrl?: string | null;
  /** Handed on to the brand's page as it is. */
  state?: string | null;
  /** A path on the brand's community, beginning with one slash. */
  returnTo?: string | null;
}

/** A link that was made. */
interface NewMagicLink {
  userId: string;
  /** Null where the service has mailed it. */
  url: string | null;
  /** PostgreSQL's text. */
  expiresAt: string;
}

/**
 * Makes a one-time login link for the user that the brand knows as `customAuthSub`. One who is new
 * becomes a member, with a username made up for them and the role CUSTOMER, which records
 * `user.joined`. Of one who is known, email and phone number are updated, and whether the email is
 * verified: as given, or else no longer when the email changes. Names stay as they are.
 *
 * Where the brand has its links mailed, the mail goes first, so that no connection waits for a mail
 * server; only then is anything written. Should that fail, the link in the mail opens nothing.
 *
 * @throws {RefusedError} CUSTOM_AUTH_DISABLED; MEMBER_BANNED; and for mail, INVALID at email, when
 *   there is none or the mail server refuses it, or MAIL_UNAVAILABLE. Nothing was changed then.
 */
export async function createMagicLink(
  em: EntityManager,
  brand: ForBrand,
  input: CreateMagicLinkInput,
  { toUrl, sendLink }: LinkOutlet,
): Promise<NewMagicLink> {
  const { customAuthEnabled, magicLinkDelivery, brandName, ...user } = await readSituation(
    em,
    brand,
    input.customAuthSub,
  );
  if (!customAuthEnabled) {
    const message =
      'Magic links are for brands that sign their users in themselves; the operator enables it.';
    throw new RefusedError({ code: 'CUSTOM_AUTH_DISABLED', field: null, message });
  }
  if (user.isBanned) throw new RefusedError(memberBanned(input.customAuthSub));

  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const url = toUrl(token);
  const isMailed = magicLinkDelivery === 'EMAIL';
  if (isMailed) {
    const to = input.email === undefined ? user.email : input.email;
    if (to === null) throw new RefusedError(emailMissing());
    await sendLink({ to, brandName, url });
  }
  // A username that was made up may be taken.
  const link = await retryLostRace(() =>
    writeForBrand(em, brand.id, async (tx) => {
      const userId = await saveMember(tx, brand, input);
      return { userId, expiresAt: await saveLink(tx, brand, userId, token, input) };
    }),
  );
  return { ...link, url: isMailed ? null : url };
}

interface Situation {
  brandName: string;
  customAuthEnabled: boolean;
  magicLinkDelivery: MagicLinkDelivery;
  /** The member's, null where they have none or are new. */
  email: string | null;
  isBanned: boolean;
}

async function readSituation(
  em: EntityManager,
  brand: ForBrand,
  customAuthSub: string,
): Promise<Situation> {
  const text = `
    select b.name as "brandName", b.custom_auth_enabled as "customAuthEnabled",
           b.magic_link_delivery as "magicLinkDelivery", m.email,
           coalesce(m.is_banned, false) as "isBanned"
    from brand b left join member m on m.brand_id = b.id and m.custom_auth_sub = $2
    where b.id = $1`;
  const [row] = await query<Situation>(em, text, [brand.id, customAuthSub]);
  if (!row) throw new Error(`The viewer's brand is gone: ${brand.id}`);
  return row;
}

/** Updates the member with the customAuthSub, or makes one; gives the id. */
async function saveMember(
  tx: EntityManager,
  brand: ForBrand,
  input: CreateMagicLinkInput,
): Promise<string> {
  const { customAuthSub, email, phoneNumber } = input;
  const joinedId = (await findMember(tx, customAuthSub))
    ? null
    : await joinMember(tx, brand, input);
  if (joinedId !== null) return joinedId;
  // Known, or made by another call while this one waited for its turn to make the member.
  const member = await findMember(tx, customAuthSub);
  // Whoever was in the way of a new member has been deleted since.
  if (!member) throw new LostRaceError();
  if (member.isBanned) throw new RefusedError(memberBanned(customAuthSub));
  const isOtherEmail = email !== undefined && email !== member.email;
  const isEmailVerified = input.isEmailVerified ?? (isOtherEmail ? false : undefined);
  const changes = pickChanges(member, { email, phoneNumber, isEmailVerified });
  if (changes) tx.assign(member, { ...changes, updatedAt: laterInstant() });
  await tx.flush();
  return member.id;
}

function findMember(tx: EntityManager, customAuthSub: string): Promise<Member | null> {
  return tx.findOne(Member, { customAuthSub }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Makes a member; null when there is one with the customAuthSub after all. */
async function joinMember(
  tx: EntityManager,
  brand: ForBrand,
  input: CreateMagicLinkInput,
): Promise<string | null> {
  const id = newId();
  const member = toNewMember({ ...input, id, username: inventUsername() });
  const [inserted] = await insertMembers(tx, brand, [member]);
  if (inserted === undefined) return null;
  const joined = await readWritten<MemberRow>(tx, brand.id, MEMBERS, id);
  await recordEvents(tx, brand.id, [toJoinedEvent(joined)]);
  return id;
}

/** Keeps a new link, and clears old ones away; gives when the new one expires. */
async function saveLink(
  tx: EntityManager,
  brand: ForBrand,
  memberId: string,
  token: string,
  { state = null, returnTo = null }: CreateMagicLinkInput,
): Promise<string> {
  const [link] = await queryInside<{ expiresAt: string }>(
    tx,
    `insert into magic_link (id, brand_id, member_id, token_hash, state, return_to, expires_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp() + interval '${LINK_LIFETIME_MINUTES} minutes')
     returning expires_at as "expiresAt"`,
    [newId(), brand.id, memberId, hashToken(token), state, returnTo],
  );
  await queryInside(
    tx,
    `delete from magic_link where id in (
       select id from magic_link
       where brand_id = $1 and expires_at < clock_timestamp() - interval '${KEPT_DAYS} days'
       order by expires_at limit ${CLEARED_AT_ONCE} for update skip locked)`,
    [brand.id],
  );
  return link!.expiresAt;
}

function memberBanned(customAuthSub: string): UserError {
  const message = `The member with the customAuthSub ${JSON.stringify(customAuthSub)} is banned.`;
  return { code: 'MEMBER_BANNED', field: ['customAuthSub'], message };
}

function emailMissing(): UserError {
  const message = "The brand's magic links are mailed, and the member has no email address.";
  return { code: 'INVALID', field: ['email'], message };
}

/** What is stored of a link's token, or of a login code: its SHA-256. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
