import { randomBytes } from 'node:crypto';

import type { EntityManager } from '@mikro-orm/postgresql';

import { readWritten } from '../database/records.ts';
import { query, queryInside } from '../database/statements.ts';
import { write, writeForBrand } from '../database/write.ts';
import { idNotFound, RefusedError } from '../errors.ts';
import { type MemberRow, MEMBERS } from '../members/service.ts';
import { hashToken } from './service.ts';

/** For how long a login code can be redeemed. */
const CODE_LIFETIME_SECONDS = 60;

const CODE_BYTES = 32;

/** 256 bits in base64url, which is what tokens are. */
const TOKEN = /^[\w-]{43}$/;

/** What can be said of a link to whoever holds it. It is never said who it is for. */
export interface LinkStanding {
  /** VOID when the member was banned since. */
  status: 'GOOD' | 'SPENT' | 'EXPIRED' | 'VOID';
  brandName: string;
  communityUrl: string;
}

/** How a link stands, by its token; null when it is unknown, or expired over 30 days ago. */
export async function findMagicLink(
  em: EntityManager,
  token: string,
): Promise<LinkStanding | null> {
  if (!TOKEN.test(token)) return null;
  const text = `
    select case when l.spent_at is not null then 'SPENT'
                when l.expires_at <= clock_timestamp() then 'EXPIRED'
                when m.is_banned then 'VOID' else 'GOOD' end as status,
           b.name as "brandName", b.community_url as "communityUrl"
    from magic_link l join member m on m.brand_id = l.brand_id and m.id = l.member_id
    join brand b on b.id = l.brand_id where l.token_hash = $1`;
  const [row] = await query<LinkStanding>(em, text, [hashToken(token)]);
  return row ?? null;
}

/**
 * Spends a link: of all who try, at once or later, one gets the address to go on to, on the brand's
 * community, with a login code of 60 seconds. The others, and those who come too late or whose
 * member is banned, get null.
 */
export async function spendMagicLink(em: EntityManager, token: string): Promise<string | null> {
  if (!TOKEN.test(token)) return null;
  const code = randomBytes(CODE_BYTES).toString('base64url');
  const spent = await write(em, (tx) =>
    queryInside<{ state: string | null; returnTo: string | null; communityUrl: string }>(
      tx,
      `update magic_link l set spent_at = clock_timestamp(), code_hash = $2,
         code_expires_at = clock_timestamp() + interval '${CODE_LIFETIME_SECONDS} seconds'
       from member m, brand b
       where l.token_hash = $1 and l.spent_at is null and l.expires_at > clock_timestamp()
         and m.brand_id = l.brand_id and m.id = l.member_id and not m.is_banned
         and b.id = l.brand_id
       returning l.state, l.return_to as "returnTo", b.community_url as "communityUrl"`,
      [hashToken(token), hashToken(code)],
    ),
  );
  const [link] = spent;
  return link ? toLandingUrl(link.communityUrl, link.returnTo, link.state, code) : null;
}

/**
 * The community's URL with the path of `returnTo` behind its own, and `state` and `code` in its
 * query, over whatever either had there under these names. It is always on the community's host.
 */
export function toLandingUrl(
  communityUrl: string,
  returnTo: string | null,
  state: string | null,
  code: string,
): string {
  const landing = new URL(communityUrl);
  const [, path = '', search = '', hash = ''] =
    /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(returnTo ?? '') ?? [];
  if (path) landing.pathname = landing.pathname.replace(/\/+$/, '') + path;
  if (hash) landing.hash = hash;
  // As text, since going through URLSearchParams would write what they gave in another way.
  const given = [landing.search, search].flatMap((query) => query.slice(1).split('&'));
  const kept = given.filter((part) => part !== '' && !OWN_PARAMETERS.has(nameOf(part)));
  if (state !== null) kept.push(`state=${encodeURIComponent(state)}`);
  landing.search = [...kept, `code=${code}`].join('&');
  return landing.href;
}

/** What the redirect adds to the query, and nobody else may. */
const OWN_PARAMETERS: ReadonlySet<string | undefined> = new Set(['state', 'code']);

function nameOf(parameter: string): string | undefined {
  return new URLSearchParams(parameter).keys().next().value;
}

/**
 * Turns a login code into the member that it signs in, once and within 60 seconds of the link's
 * being spent.
 *
 * @throws {RefusedError} NOT_FOUND at brandId; NOT_FOUND at code, when it is unknown, another
 *   brand's, redeemed or too old, which are not told apart; MEMBER_BANNED.
 */
export async function redeemLoginCode(
  em: EntityManager,
  { brandId, code }: { brandId: string; code: string },
): Promise<MemberRow> {
  return writeForBrand(em, brandId, async (tx) => {
    const [brand] = await queryInside(tx, 'select 1 from brand where id = $1', [brandId]);
    if (!brand) throw new RefusedError(idNotFound('brand', brandId, ['brandId']));
    const [link] = await queryInside<{ memberId: string }>(
      tx,
      `update magic_link set redeemed_at = clock_timestamp()
       where brand_id = $1 and code_hash = $2 and redeemed_at is null
         and code_expires_at > clock_timestamp()
       returning member_id as "memberId"`,
      [brandId, hashToken(code)],
    );
    if (!link) {
      const message = `There is no such login code; it works once, for ${CODE_LIFETIME_SECONDS} seconds, for its own brand.`;
      throw new RefusedError({ code: 'NOT_FOUND', field: ['code'], message });
    }
    const member = await readWritten<MemberRow>(tx, brandId, MEMBERS, link.memberId);
    if (member.isBanned) {
      const message = 'The member has been banned since the link was made.';
      throw new RefusedError({ code: 'MEMBER_BANNED', field: ['code'], message });
    }
    return member;
  });
}
