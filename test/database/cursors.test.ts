import { describe, expect, it } from 'vitest';

import { creationKey, decodeCursor, encodeCursor } from '../../src/database/cursors.ts';
import { newId } from '../../src/database/ids.ts';
import { VARIANTS_OF_PRODUCT } from '../../src/products/variant-service.ts';

const CREATION_KEY = creationKey('c');
const row = { createdAt: '2026-11-20 09:54:00.12+00', id: newId(), position: 7 };
const encode = (text: string) => Buffer.from(text).toString('base64url');

describe('a cursor', () => {
  it('gives back the place that it was made of', () => {
    const cursor = encodeCursor(CREATION_KEY, row);
    expect(decodeCursor(CREATION_KEY, cursor)).toEqual(['2026-11-20T09:54:00.120Z', row.id]);
    const byPosition = encodeCursor(VARIANTS_OF_PRODUCT.key, row);
    expect(decodeCursor(VARIANTS_OF_PRODUCT.key, byPosition)).toEqual([7, row.id]);
  });

  it('is refused by another list', () => {
    expect(decodeCursor(VARIANTS_OF_PRODUCT.key, encodeCursor(CREATION_KEY, row))).toBeNull();
    expect(decodeCursor(creationKey('d'), encodeCursor(CREATION_KEY, row))).toBeNull();
  });

  it.each([
    ['nothing', ''],
    ['no base64', '!!!'],
    ['another spelling of a good one', `${encodeCursor(CREATION_KEY, row)}=`],
    ['a tag alone', encode('c')],
    ['a day that is none', encode(`c,2026-02-30T00:00:00.000Z,${row.id}`)],
    ['an id that is none', encode('c,2026-11-20T09:54:00.120Z,1')],
    ['too much', encode(`c,2026-11-20T09:54:00.120Z,${row.id},1`)],
  ])('is refused when it is %s', (_what, cursor) => {
    expect(decodeCursor(CREATION_KEY, cursor)).toBeNull();
  });

  it.each(['2147483648', '-2147483648', '1e3', '', ' 1'])(
    'is refused with the position %j',
    (position) => {
      expect(
        decodeCursor(VARIANTS_OF_PRODUCT.key, encode(`position,${position},${row.id}`)),
      ).toBeNull();
    },
  );
});

describe('newId', () => {
  it('rises with every call, within one millisecond too', () => {
    const ids = Array.from({ length: 10_000 }, newId);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  });
});
