import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type TestBrand } from './support/brand.ts';
import type { Json } from './support/client.ts';
import { applicationOf, communityOf, memberInput } from './support/community.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
let brand: TestBrand;
let other: TestBrand;
let community: ReturnType<typeof communityOf>;
let application: ReturnType<typeof applicationOf>;

const COMMUNITY_URL = 'https://community.example/c/?lang=en';

beforeAll(async () => {
  gateway = await startTestGateway();
  brand = await gateway.createBrand('Alder & <Pine>', {
    customAuthEnabled: true,
    communityUrl: COMMUNITY_URL,
  });
  other = await gateway.createBrand('Another brand', { customAuthEnabled: true });
  community = communityOf(brand);
  application = applicationOf(gateway.platform, brand.id);
});
afterAll(() => gateway?.close());

let lastSub = 0;
const newSub = () => `shop|${++lastSub}`;
const linkFor = async (fields: object = {}): Promise<Json> => {
  const link = await community.createMagicLink({
    customAuthSub: newSub(),
    email: 'mara@example.com',
    ...fields,
  });
  expect(link.userErrors).toEqual([]);
  return link;
};

const open = (url: string, init: RequestInit = {}) =>
  fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(20_000), ...init });
const spend = (url: string) => open(url, { method: 'POST' });
/** Where a good link leads when it is spent. */
const landingOf = async (url: string): Promise<URL> => {
  const response = await spend(url);
  expect(response.status).toBe(303);
  return new URL(response.headers.get('location') ?? '');
};

describe('createMagicLink', () => {
  it('signs in somebody new from nothing, once', async () => {
    const customAuthSub = newSub();
    const { url, userId, expiresAt } = await linkFor({
      customAuthSub,
      firstName: 'Mara',
      lastName: 'Ek',
      phoneNumber: '+49 30 1234',
      profilePictureUrl: 'https://img.example/m.png',
      state: 'a b&c=d#é',
      returnTo: '/welcome?tab=new#top',
    });
    expect(url).toMatch(new RegExp(`^${gateway.url}/magic-links/[\\w-]{43}$`));
    const minutesLeft = (Date.parse(expiresAt) - Date.now()) / 60_000;
    expect(minutesLeft).toBeGreaterThan(14);
    expect(minutesLeft).toBeLessThan(15.5);

    const landing = await landingOf(url);
    expect(landing.origin + landing.pathname + landing.hash).toBe(
      'https://community.example/c/welcome#top',
    );
    expect([...landing.searchParams]).toEqual([
      ['lang', 'en'],
      ['tab', 'new'],
      ['state', 'a b&c=d#é'],
      ['code', expect.stringMatching(/^[\w-]{43}$/)],
    ]);

    const code = landing.searchParams.get('code')!;
    const { member, userErrors } = await application.redeem(code);
    expect(userErrors).toEqual([]);
    expect(member).toEqual({
      id: userId,
      customAuthSub,
      username: expect.stringMatching(/^[a-z]+-[a-z]+-\d{1,4}$/),
      firstName: 'Mara',
      lastName: 'Ek',
      email: 'mara@example.com',
      phoneNumber: '+49 30 1234',
      isEmailVerified: false,
      isBanned: false,
      role: 'CUSTOMER',
      profilePictureUrl: 'https://img.example/m.png',
    });
    expect(await application.redeem(code)).toMatchObject({
      member: null,
      userErrors: [{ code: 'NOT_FOUND', field: ['code'] }],
    });
  });

  it('updates email and phone of one who is known, and leaves names as they are', async () => {
    const customAuthSub = newSub();
    const first = await linkFor({
      customAuthSub,
      phoneNumber: '1',
      isEmailVerified: true,
      firstName: 'Old',
      profilePictureUrl: 'https://img.example/old.png',
    });
    const before = await community.readMember(first.userId);
    expect(before.isEmailVerified).toBe(true);
    const change = async (fields: object) => {
      const { userId } = await linkFor({ customAuthSub, ...fields });
      expect(userId).toBe(first.userId);
      return community.readMember(userId);
    };
    const names = {
      firstName: 'New',
      lastName: 'New',
      profilePictureUrl: 'https://img.example/new.png',
    };
    expect(await change(names)).toEqual(before);
    expect(await change({ phoneNumber: '2', isEmailVerified: null })).toEqual({
      ...before,
      phoneNumber: '2',
    });
    expect(await change({ email: 'new@example.com' })).toMatchObject({
      email: 'new@example.com',
      phoneNumber: '2',
      isEmailVerified: false,
    });
    const verified = await change({ email: 'newer@example.com', isEmailVerified: true });
    expect(verified.isEmailVerified).toBe(true);
    // Left out stays, null clears.
    const phoneOnly = { email: undefined, phoneNumber: '3' };
    expect(await change(phoneOnly)).toMatchObject({
      email: 'newer@example.com',
      isEmailVerified: true,
    });
    expect(await change({ ...phoneOnly, email: null })).toMatchObject({
      email: null,
      phoneNumber: '3',
      isEmailVerified: false,
    });
  });

  it('signs in a member whom the community application has told of', async () => {
    const customAuthSub = newSub();
    const member = memberInput('told', { customAuthSub, firstName: 'Told' });
    await application.mustRecord({ memberJoined: member });
    const { userId } = await linkFor({ customAuthSub });
    expect(userId).toBe(member.id);
    expect(await community.readMember(userId)).toMatchObject({
      username: 'told',
      firstName: 'Told',
      email: 'mara@example.com',
    });
  });

  it('makes one member of many calls that race for one new user', async () => {
    for (let round = 0; round < 5; round++) {
      const customAuthSub = newSub();
      const links = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          community.createMagicLink({ customAuthSub, email: `racer${n}@example.com` }),
        ),
      );
      expect(links.flatMap(({ userErrors }) => userErrors)).toEqual([]);
      expect(new Set(links.map(({ userId }) => userId)).size).toBe(1);
      expect(new Set(links.map(({ url }) => url)).size).toBe(6);
      const { data } = await brand.ask('{ members(last: 2) { nodes { id } } }');
      expect(data.members.nodes[1].id).toBe(links[0].userId);
      expect(data.members.nodes[0]?.id).not.toBe(links[0].userId);
    }
  });

  it('knows a user by the customAuthSub in its own brand only', async () => {
    const customAuthSub = newSub();
    const mine = await linkFor({ customAuthSub });
    const theirs = await communityOf(other).createMagicLink({ customAuthSub, phoneNumber: '1' });
    expect(theirs.userErrors).toEqual([]);
    expect(theirs.userId).not.toBe(mine.userId);
    const code = (await landingOf(mine.url)).searchParams.get('code')!;
    expect(await application.redeem(code, other.id)).toMatchObject({
      member: null,
      userErrors: [{ code: 'NOT_FOUND', field: ['code'] }],
    });
    expect((await application.redeem(code)).member.id).toBe(mine.userId);
  });

  it('is for brands with custom auth', async () => {
    const plain = await gateway.createBrand('Plain');
    const answer = await communityOf(plain).createMagicLink({
      customAuthSub: 'x',
      email: 'x@example.com',
    });
    expect(answer).toEqual({
      userId: null,
      url: null,
      expiresAt: null,
      userErrors: [{ code: 'CUSTOM_AUTH_DISABLED', field: null, message: expect.any(String) }],
    });
    expect((await communityOf(plain).readAll()).members.totalCount).toBe(0);
  });

  it('gives a banned member no link, and makes those that there are void', async () => {
    const customAuthSub = newSub();
    const [link, spent] = [await linkFor({ customAuthSub }), await linkFor({ customAuthSub })];
    const code = (await landingOf(spent.url)).searchParams.get('code')!;
    await community.updateMember({ id: link.userId, isBanned: true });
    const before = await community.readMember(link.userId);
    const refused = await community.createMagicLink({ customAuthSub, email: 'other@example.com' });
    expect(refused).toMatchObject({
      userId: null,
      url: null,
      userErrors: [{ code: 'MEMBER_BANNED', field: ['customAuthSub'] }],
    });
    expect(await community.readMember(link.userId)).toEqual(before);
    expect((await open(link.url)).status).toBe(410);
    expect((await spend(link.url)).status).toBe(410);
    expect(await application.redeem(code)).toMatchObject({
      member: null,
      userErrors: [{ code: 'MEMBER_BANNED', field: ['code'] }],
    });
  });

  it.each([
    ['neither email nor phone number', { email: undefined }, 'email'],
    ['null for both', { email: null, phoneNumber: null }, 'email'],
    ['an empty customAuthSub', { customAuthSub: '' }, 'customAuthSub'],
    ['a customAuthSub of 256 characters', { customAuthSub: 'x'.repeat(256) }, 'customAuthSub'],
    ['an email that is none', { email: 'mara' }, 'email'],
    ['an email with a line end', { email: 'mara@example.com\r\nBcc: x@example.com' }, 'email'],
    ['an email with a name', { email: 'Mara <mara@example.com>' }, 'email'],
    ['an email of 255 characters', { email: `${'x'.repeat(60)}@${'x'.repeat(190)}.com` }, 'email'],
    ['an empty phone number', { phoneNumber: '' }, 'phoneNumber'],
    ['a phone number of 33 characters', { phoneNumber: '1'.repeat(33) }, 'phoneNumber'],
    ['a first name of 256 characters', { firstName: 'x'.repeat(256) }, 'firstName'],
    ['a picture that is no URL', { profilePictureUrl: 'javascript:alert(1)' }, 'profilePictureUrl'],
    ['a state of 257 characters', { state: 'x'.repeat(257) }, 'state'],
    ['a returnTo of 101 characters', { returnTo: `/${'x'.repeat(100)}` }, 'returnTo'],
    ['an empty returnTo', { returnTo: '' }, 'returnTo'],
    ['a returnTo without a slash', { returnTo: 'welcome' }, 'returnTo'],
    ['a returnTo to another host', { returnTo: 'https://evil.example' }, 'returnTo'],
    ['two slashes', { returnTo: '//evil.example' }, 'returnTo'],
    ['three slashes', { returnTo: '///evil.example' }, 'returnTo'],
    ['a slash and a backslash', { returnTo: '/\\evil.example' }, 'returnTo'],
    ['a backslash further on', { returnTo: '/a\\..\\\\evil.example' }, 'returnTo'],
    ['a slash, a tab and a slash', { returnTo: '/\t/evil.example' }, 'returnTo'],
    ['a slash, a line end and a slash', { returnTo: '/\n/evil.example' }, 'returnTo'],
    ['two slashes behind dots', { returnTo: '/.//evil.example' }, 'returnTo'],
    ['two slashes behind a way back', { returnTo: '/a/..//evil.example' }, 'returnTo'],
    ['a space', { returnTo: ' /welcome' }, 'returnTo'],
    ['a step back', { returnTo: '/../admin' }, 'returnTo'],
    ['a step back further on', { returnTo: '/a/b/..?x=1' }, 'returnTo'],
    ['an encoded step back', { returnTo: '/%2E./admin#top' }, 'returnTo'],
    ['a step that goes nowhere', { returnTo: '/a/./b' }, 'returnTo'],
  ])('refuses %s at its path, and makes nobody', async (_what, fields, name) => {
    const before = await community.readAll();
    const { errors } = await community.createMagicLink({
      customAuthSub: newSub(),
      email: 'mara@example.com',
      ...fields,
    });
    expect(errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', name] }],
    });
    expect(await community.readAll()).toEqual(before);
  });

  it('takes values at their bounds', async () => {
    const returnTo = `/${'x'.repeat(99)}`;
    const bounds = {
      customAuthSub: 'x'.repeat(255),
      email: `${'é'.repeat(64)}@${'x'.repeat(185)}.com`,
      phoneNumber: '☎'.repeat(32),
      state: '🧶'.repeat(256),
      returnTo,
    };
    const { url } = await linkFor(bounds);
    const landing = await landingOf(url);
    expect(landing.pathname).toBe(`/c${returnTo}`);
    expect(landing.searchParams.get('state')).toBe(bounds.state);
  });

  it('keeps queries as they were given', async () => {
    const { url } = await linkFor({ returnTo: '/x?flag&a=%20b+c&empty=', state: 's p' });
    expect((await landingOf(url)).href).toMatch(
      /^https:\/\/community\.example\/c\/x\?lang=en&flag&a=%20b\+c&empty=&state=s%20p&code=[\w-]{43}$/,
    );
  });

  it('lets neither returnTo nor the community set code and state', async () => {
    const { url } = await linkFor({ returnTo: '/x?code=evil&state=evil&a=1' });
    const landing = await landingOf(url);
    expect(landing.searchParams.getAll('code')).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    expect(landing.searchParams.has('state')).toBe(false);
    expect(landing.searchParams.get('a')).toBe('1');
    const empty = await landingOf((await linkFor({ state: '' })).url);
    expect(empty.searchParams.getAll('state')).toEqual(['']);
    expect(empty.pathname).toBe('/c/');
  });
});

describe("a magic link's page", () => {
  it('shows a button without spending the link, however often it is opened', async () => {
    const { url } = await linkFor();
    for (let visit = 0; visit < 3; visit++) expect((await open(url)).status).toBe(200);
    expect((await open(url, { method: 'HEAD' })).status).toBe(200);
    expect((await spend(url)).status).toBe(303);
  });

  it('is complete in itself, tells nothing of the member, and may be kept by nobody', async () => {
    const { url, userId } = await linkFor({ firstName: 'Mara', customAuthSub: 'the-sub' });
    const { username } = await community.readMember(userId);
    const response = await open(url);
    const html = await response.text();
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('<h1>Sign in to Alder &amp; &lt;Pine&gt;</h1>');
    expect(html).toContain('<form method="post"><button type="submit">Sign in</button></form>');
    expect(html).not.toMatch(/<script|<img|<link|src=|href=|@import|url\(|\son\w+=/i);
    for (const personal of ['Mara', 'mara@example.com', 'the-sub', userId, username]) {
      expect(html).not.toContain(personal);
    }
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('set-cookie')).toBeNull();
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' https:\/\/community\.example https:; base-uri 'none'; frame-ancestors 'none'$/,
    );
  });

  it.each([
    ['http://community.example:8080/c', "'self' http://community.example:8080 http: https:"],
    ['http://[::1]:8080/', "'self' http: https:"],
  ])('lets its form lead on from %s', async (communityUrl, targets) => {
    const plain = await gateway.createBrand('Plain', { customAuthEnabled: true, communityUrl });
    const input = { customAuthSub: 'x', phoneNumber: '1' };
    const { url } = await communityOf(plain).createMagicLink(input);
    const policy = (await open(url)).headers.get('content-security-policy');
    expect(policy).toContain(`form-action ${targets};`);
    expect((await landingOf(url)).href.startsWith(communityUrl)).toBe(true);
  });

  it('keeps its redirect from caches and from the referrer too', async () => {
    const { url } = await linkFor();
    const { status, headers } = await spend(url);
    expect(status).toBe(303);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('spends the link once of twenty POSTs at once; the others are 410', async () => {
    const { url } = await linkFor();
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await spend(url)).status),
    );
    expect(statuses.toSorted()).toEqual([303, ...Array<number>(19).fill(410)]);
    const again = await open(url);
    expect(again.status).toBe(410);
    const html = await again.text();
    expect(html).toContain('This link has been used already');
    expect(html).not.toContain('<form');
    expect(again.headers.get('cache-control')).toBe('no-store');
  });

  it('is 404 for an unknown token, by GET and by POST', async () => {
    const { url } = await linkFor();
    const unknown = `${gateway.url}/magic-links/`;
    for (const token of ['', 'x', 'A'.repeat(43), '%00', '../graphql', `${url.slice(-43)}/`]) {
      for (const method of ['GET', 'POST']) {
        const response = await open(`${unknown}${token.replace('../', '..%2f')}`, { method });
        expect(response.status).toBe(404);
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(await response.text()).toContain('This link is unknown');
      }
    }
  });

  it('answers other methods with 405, and leaves the link as it is', async () => {
    const { url } = await linkFor();
    for (const method of ['PUT', 'DELETE', 'OPTIONS']) {
      const response = await open(url, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    }
    expect((await spend(url)).status).toBe(303);
  });

  it("does not let another site's page press the button", async () => {
    const { url } = await linkFor();
    const press = async (headers: Record<string, string>) =>
      (await open(url, { method: 'POST', headers })).status;
    const fromElsewhere: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'nonsense' },
      { origin: `${gateway.url}1` },
    ];
    for (const headers of fromElsewhere) {
      expect(await press(headers)).toBe(200);
    }
    expect(await press({ 'sec-fetch-site': 'same-origin', origin: 'null' })).toBe(303);
    const second = await linkFor();
    const own = { 'sec-fetch-site': 'same-origin', origin: gateway.url };
    expect((await open(second.url, { method: 'POST', headers: own })).status).toBe(303);
  });

  it('goes away with the member', async () => {
    const { url, userId } = await linkFor();
    await application.mustRecord({ memberDeleted: { id: userId } });
    expect((await open(url)).status).toBe(404);
  });

  it('leaves no token, code or personal data in the log', async () => {
    const { url } = await linkFor({ email: 'logged@example.com', state: 'logged-state' });
    await open(url);
    const landing = await landingOf(url);
    await application.redeem(landing.searchParams.get('code')!);
    await spend(`${url}x`);
    const token = url.slice(-43);
    const halves = [token.slice(0, 21), token.slice(21)];
    for (const path of ['/x/magic-links/', '//magic-links/', '/Magic-Links/', '/magic-links%2F']) {
      await open(`${gateway.url}${path}${token}`);
      await open(`${gateway.url}${path}${halves.join('%5F')}`);
    }
    for (const between of ['%0A', '=', '%20', ';'])
      await open(halves.join(between).replace(/^/, `${gateway.url}/magic-links/`));
    const log = JSON.stringify(gateway.logLines);
    expect(log).toContain('"path":"/magic-links/:token"');
    for (const secret of [
      ...halves,
      url.slice(-43),
      landing.searchParams.get('code')!,
      'logged@',
      'logged-state',
    ]) {
      expect(log).not.toContain(secret);
    }
  });
});

describe('redeemLoginCode', () => {
  it('gives the member once of twenty calls at once', async () => {
    const { url } = await linkFor();
    const code = (await landingOf(url)).searchParams.get('code')!;
    const answers = await Promise.all(Array.from({ length: 20 }, () => application.redeem(code)));
    expect(answers.filter(({ member }) => member)).toHaveLength(1);
    expect(answers.filter(({ userErrors }) => userErrors[0]?.code === 'NOT_FOUND')).toHaveLength(
      19,
    );
  });

  it('refuses unknown brands and codes, and codes that are none', async () => {
    const code = 'A'.repeat(43);
    expect(await application.redeem(code)).toMatchObject({
      userErrors: [{ code: 'NOT_FOUND', field: ['code'] }],
    });
    expect(await application.redeem(code, randomUUID())).toMatchObject({
      userErrors: [{ code: 'NOT_FOUND', field: ['brandId'] }],
    });
    for (const bad of ['', 'x'.repeat(256)]) {
      const { errors } = await application.redeem(bad);
      expect(errors[0].extensions.issues[0].path).toEqual(['input', 'code']);
    }
  });
});
