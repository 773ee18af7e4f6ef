import { createHmac, timingSafeEqual } from 'node:crypto';

const POSITION_BYTES = 8;
const SIGNATURE_BYTES = 10;

/**
 * The cursor right behind a position of a brand's log: base64url of the position and of the first
 * 80 bits of its HMAC-SHA-256 under the log's own key. It names the log that way, and nobody can
 * make one up. Opaque to clients; it goes on working for as long as the log's key is there.
 */
export function encodeEventCursor(key: Buffer, position: number): string {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeBigUInt64BE(BigInt(position));
  return Buffer.concat([bytes, sign(key, bytes)]).toString('base64url');
}

/** The position of a cursor that `encodeEventCursor` made with this key, or null for anything else. */
export function decodeEventCursor(key: Buffer, cursor: string): number | null {
  const bytes = Buffer.from(cursor, 'base64url');
  // Only the one canonical spelling: base64 decoding skips what it does not know.
  if (bytes.length !== POSITION_BYTES + SIGNATURE_BYTES) return null;
  if (bytes.toString('base64url') !== cursor) return null;
  const position = bytes.subarray(0, POSITION_BYTES);
  if (!timingSafeEqual(bytes.subarray(POSITION_BYTES), sign(key, position))) return null;
  return Number(position.readBigUInt64BE());
}

function sign(key: Buffer, bytes: Buffer): Buffer {
  return createHmac('sha256', key).update(bytes).digest().subarray(0, SIGNATURE_BYTES);
}
