import { createHash, randomBytes } from 'node:crypto';

import type { EntityManager } from '@mikro-orm/postgresql';

import type { BrandSummary } from '../brands/service.ts';
import { newId } from '../database/ids.ts';
import { query } from '../database/statements.ts';
import { UnauthenticatedError } from '../errors.ts';
import { ApiKey } from './entity.ts';

/** What a credential may do. A secret key is given its scopes when it is made. */
const SCOPES = [
  'members:read',
  'members:pii',
  'members:write',
  'groups:read',
  'groups:write',
  'posts:read',
  'products:read',
  'products:write',
  'magic_links:create',
  'events:read',
  'webhooks:manage',
  'keys:manage',
] as const;

/** Who is asking: the API key behind the request, with its brand and scopes. */
export interface Viewer {
  apiKeyId: string;
  /** The start of the key, for logs. */
  apiKeyPrefix: string;
  brand: BrandSummary;
  scopes: ReadonlySet<string>;
}

/** Begins every secret key, so that people and secret scanners know one when they see it. */
const SECRET_KEY_START = 'cgw_sk_';

/** How much of the key is kept in the clear: the start and 8 characters. */
const PREFIX_LENGTH = SECRET_KEY_START.length + 8;

const KEY_BYTES = 32;

/**
 * Makes a secret key for a brand inside the transaction of `tx`. It holds every scope.
 *
 * @returns the key itself, `cgw_sk_` and 256 random bits in base64url; only its SHA-256 is stored,
 *   so this is the one time that it can be shown.
 */
export function createApiKey(tx: EntityManager, brandId: string, input: { name: string }): string {
  const token = SECRET_KEY_START + randomBytes(KEY_BYTES).toString('base64url');
  tx.create(ApiKey, {
    id: newId(),
    brandId,
    name: input.name,
    prefix: token.slice(0, PREFIX_LENGTH),
    tokenHash: hashToken(token),
    scopes: [...SCOPES],
  });
  return token;
}

const VIEWER = `
    select k.id as "apiKeyId", k.prefix as "apiKeyPrefix", k.scopes,
           b.id as "brandId", b.name, b.custom_auth_enabled as "customAuthEnabled"
    from api_key k join brand b on b.id = k.brand_id
    where k.token_hash = $1 and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())`;

interface ViewerRow {
  apiKeyId: string;
  apiKeyPrefix: string;
  scopes: string[];
  brandId: string;
  name: string;
  customAuthEnabled: boolean;
}

/**
 * Finds out who holds a key.
 *
 * @throws {UnauthenticatedError} when it is missing, unknown, expired or revoked; which of these is
 *   not said, so that nobody learns which keys there were.
 */
export async function authenticate(em: EntityManager, token: string | null): Promise<Viewer> {
  if (token === null) {
    throw new UnauthenticatedError('An API key is needed: send Authorization: Bearer <key>.');
  }
  const [row] = await query<ViewerRow>(em, VIEWER, [hashToken(token)]);
  if (!row) throw new UnauthenticatedError('The API key is unknown, expired or revoked.');
  const { apiKeyId, apiKeyPrefix, scopes, brandId, name, customAuthEnabled } = row;
  const brand = { id: brandId, name, customAuthEnabled };
  return { apiKeyId, apiKeyPrefix, brand, scopes: new Set(scopes) };
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
