import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { EntityManager } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { RefusedError } from '../src/errors.ts';
import { redeemLoginCode } from '../src/magic-links/login.ts';
import { createLinkPage, MAGIC_LINK_PATH } from '../src/magic-links/page.ts';
import { createMagicLink } from '../src/magic-links/service.ts';
import { createBrandWithKey } from '../src/platform/service.ts';
import { openTestOrm } from './support/orm.ts';

let em: EntityManager;
let url: string;
let brand: { id: string };
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const database = await openTestOrm();
  cleanUps.push(() => database.close());
  ({ em } = database);
  const show = createLinkPage(em);
  const server = createServer((request, response) => {
    void show(request, response, request.url ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => new Promise((resolve) => server.close(resolve)));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const input = { name: 'B', communityUrl: 'https://c.example', customAuthEnabled: true };
  ({ brand } = await createBrandWithKey(em, input));
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

const outlet = {
  toUrl: (token: string) => `${url}${MAGIC_LINK_PATH}${token}`,
  sendLink: () => Promise.reject(new Error('This brand mails no links.')),
};
const newLink = async () => {
  const input = { customAuthSub: 'sub', email: 'mara@example.com' };
  const link = await createMagicLink(em, brand, input, outlet);
  return link.url!;
};
const spend = (link: string) => fetch(link, { method: 'POST', redirect: 'manual' });
const codeOf = (response: Response) =>
  new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? '';
/** Lets time pass for every link, by moving all that is written of it back. */
const letPass = (interval: string) =>
  em.execute(`update magic_link set expires_at = expires_at - interval '${interval}',
    code_expires_at = code_expires_at - interval '${interval}'`);

describe('a magic link', () => {
  it('works for 15 minutes and no longer', async () => {
    const [early, late] = [await newLink(), await newLink()];
    await letPass('14 minutes 50 seconds');
    expect((await spend(early)).status).toBe(303);
    await letPass('11 seconds');
    for (const method of ['GET', 'POST']) {
      const response = await fetch(late, { method, redirect: 'manual' });
      expect(response.status).toBe(410);
      expect(await response.text()).toContain('This link has expired');
    }
  });

  it('gives a code that works for 60 seconds and no longer', async () => {
    const [early, late] = [
      codeOf(await spend(await newLink())),
      codeOf(await spend(await newLink())),
    ];
    await letPass('50 seconds');
    const member = await redeemLoginCode(em, { brandId: brand.id, code: early });
    expect(member.customAuthSub).toBe('sub');
    await letPass('11 seconds');
    await expect(redeemLoginCode(em, { brandId: brand.id, code: late })).rejects.toThrow(
      RefusedError,
    );
  });

  it('is stored as nothing but the hashes of its token and its code', async () => {
    const link = await newLink();
    const code = codeOf(await spend(link));
    const rows = await em.execute(
      "select l::text, encode(token_hash, 'escape') as token, encode(code_hash, 'escape') as code from magic_link l",
    );
    const stored = JSON.stringify(rows);
    expect(rows.length).toBeGreaterThan(0);
    for (const secret of [link.slice(-43), code]) {
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
    }
  });

  it('is unknown 30 days after it has expired, when another one is made', async () => {
    const old = await newLink();
    await letPass('30 days 14 minutes');
    await newLink();
    expect((await fetch(old)).status).toBe(410);
    await letPass('2 minutes');
    await newLink();
    expect((await fetch(old)).status).toBe(404);
  });
});
