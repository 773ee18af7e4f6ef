import { type AddressInfo, createServer, type Socket } from 'node:net';

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { Json } from './support/client.ts';
import { applicationOf, communityOf } from './support/community.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { findFreePort } from './support/postgres-server.ts';

interface Mail {
  from: string;
  to: string[];
  source: string;
}

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** A real mail server on a free port, which keeps what it takes. */
async function startMailServer(
  options: SMTPServerOptions = {},
): Promise<{ url: string; mails: Mail[] }> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  cleanUps.push(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, mails };
}

async function startWithMail(smtpUrl: string | undefined, fields: object = {}) {
  const gateway: TestGateway = await startTestGateway({
    smtpUrl,
    mailFrom: 'no-reply@gateway.example',
  });
  cleanUps.push(() => gateway.close());
  const brand = await gateway.createBrand('Älder & Pine', {
    customAuthEnabled: true,
    magicLinkDelivery: 'EMAIL',
    ...fields,
  });
  const community = communityOf(brand);
  const application = applicationOf(gateway.platform, brand.id);
  return { gateway, community, application };
}

/** The decoded parts of a mail, by their types. */
function partsOf(source: string): Record<string, string> {
  const boundary = /boundary="([^"]+)"/.exec(source)?.[1] ?? '';
  const parts = source.split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(
    parts.map((part) => {
      const [head = '', ...body] = part.trim().split('\r\n\r\n');
      const type = /content-type: ([\w/]+)/i.exec(head)?.[1] ?? '';
      const encoding = /content-transfer-encoding: (\S+)/i.exec(head)?.[1]?.toLowerCase();
      const text = body.join('\r\n\r\n');
      return [type, encoding === 'quoted-printable' ? decodeQuotedPrintable(text) : text];
    }),
  );
}

function decodeQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

describe('createMagicLink of a brand that has its links mailed', () => {
  it('mails the link as text and HTML, and does not return it', async () => {
    const server = await startMailServer();
    const { community, application } = await startWithMail(server.url);
    const link = await community.createMagicLink({ customAuthSub: 's', email: 'mara@example.com' });
    expect(link).toEqual({
      userId: expect.any(String),
      url: null,
      expiresAt: expect.any(String),
      userErrors: [],
    });
    expect(server.mails).toHaveLength(1);
    const [{ from, to, source }] = server.mails as [Mail];
    expect([from, to]).toEqual(['no-reply@gateway.example', ['mara@example.com']]);
    expect(source).toMatch(/^From: =\?UTF-8\?.*<no-reply@gateway\.example>\r$/m);
    expect(source).toMatch(/^Subject: .*Sign.in.to/m);
    expect(source).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    const { 'text/plain': text = '', 'text/html': html = '' } = partsOf(source);
    const [url = ''] = /http:\S+\/magic-links\/[\w-]{43}/.exec(text) ?? [];
    expect(text).toContain('sign in to Älder & Pine. It works once, and for 15 minutes.');
    expect(html).toContain(`<a href="${url}">Sign in to Älder &amp; Pine</a>`);

    const response = await fetch(url, { method: 'POST', redirect: 'manual' });
    const code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? '';
    expect((await application.redeem(code)).member.id).toBe(link.userId);
  });

  it("goes to a known member's address when none is given, and is INVALID without any", async () => {
    const server = await startMailServer();
    const { community } = await startWithMail(server.url);
    await community.createMagicLink({ customAuthSub: 's', email: 'known@example.com' });
    await community.createMagicLink({ customAuthSub: 's', phoneNumber: '1' });
    expect(server.mails.map(({ to }) => to)).toEqual([
      ['known@example.com'],
      ['known@example.com'],
    ]);
    const before = await community.readAll();
    for (const input of [
      { customAuthSub: 'new', phoneNumber: '1' },
      { customAuthSub: 's', phoneNumber: '2', email: null },
    ]) {
      const refused = await community.createMagicLink(input);
      expect(refused).toMatchObject({
        userId: null,
        url: null,
        userErrors: [{ code: 'INVALID', field: ['email'] }],
      });
    }
    expect(server.mails).toHaveLength(2);
    expect(await community.readAll()).toEqual(before);
  });

  it('gives no link to a member who is banned while the mail goes out', async () => {
    let ban = async (): Promise<unknown> => undefined;
    const server = await startMailServer({
      onData: (stream, _session, done) => {
        const finish = async () => {
          await ban();
          done();
        };
        stream.resume().on('end', () => void finish());
      },
    });
    const { community } = await startWithMail(server.url);
    const input = { customAuthSub: 's', email: 'banned@example.com' };
    const { userId } = await community.createMagicLink(input);
    ban = () => community.updateMember({ id: userId, isBanned: true });
    const refused = await community.createMagicLink({ ...input, phoneNumber: '1' });
    expect(refused).toMatchObject({ userId: null, userErrors: [{ code: 'MEMBER_BANNED' }] });
    expect((await community.readMember(userId)).phoneNumber).toBeNull();
  });

  it('ends the connection to a mail server that drips', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
      socket.write('220 drip\r\n');
      let isBody = false;
      socket.on('data', (chunk: Buffer) => {
        const text = chunk.toString();
        if (isBody && text.endsWith('\r\n.\r\n')) {
          const timer = setInterval(() => socket.write('250-x\r\n'), 1_000);
          socket.on('close', () => clearInterval(timer));
        } else if (/^DATA/i.test(text)) {
          isBody = true;
          socket.write('354 go on\r\n');
        } else if (!isBody) socket.write('250 ok\r\n');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUps.push(() => new Promise((resolve) => server.close(() => resolve())));
    const { port } = server.address() as AddressInfo;
    const { community } = await startWithMail(`smtp://127.0.0.1:${port}`);
    const startedAt = performance.now();
    const waiting = Array.from({ length: 50 }, (_, n) =>
      community.createMagicLink({ customAuthSub: `s${n}`, email: 'd@example.com' }),
    );
    await vi.waitFor(() => expect(sockets.size).toBe(50), 10_000);
    // No more than 50 at once: the next one is refused without trying.
    const next = await community.createMagicLink({ customAuthSub: 's', email: 'd@example.com' });
    expect([next.userErrors[0].code, sockets.size]).toEqual(['MAIL_UNAVAILABLE', 50]);
    for (const refused of await Promise.all(waiting)) {
      expect(refused.userErrors[0].code).toBe('MAIL_UNAVAILABLE');
    }
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    await vi.waitFor(() => expect(sockets.size).toBe(0));
  });

  it('sends no mail to a banned member', async () => {
    const server = await startMailServer();
    const { community } = await startWithMail(server.url);
    const input = { customAuthSub: 's', email: 'banned@example.com' };
    const { userId } = await community.createMagicLink(input);
    await community.updateMember({ id: userId, isBanned: true });
    const refused = await community.createMagicLink(input);
    expect(refused.userErrors[0].code).toBe('MEMBER_BANNED');
    expect(server.mails).toHaveLength(1);
  });

  it.each<[string, SMTPServerOptions | null, object]>([
    ['is down', null, { code: 'MAIL_UNAVAILABLE', field: null }],
    [
      'refuses for now',
      { onMailFrom: (_address, _session, done) => done(smtpError(451)) },
      { code: 'MAIL_UNAVAILABLE', field: null },
    ],
    [
      'refuses the message',
      { onData: (stream, _session, done) => stream.resume().on('end', () => done(smtpError(554))) },
      { code: 'MAIL_UNAVAILABLE', field: null },
    ],
    ['wants a password', { authOptional: false }, { code: 'MAIL_UNAVAILABLE', field: null }],
    [
      'refuses the address',
      { onRcptTo: (_address, _session, done) => done(smtpError(550)) },
      { code: 'INVALID', field: ['email'] },
    ],
  ])('says so when the mail server %s, and changes nothing', async (_what, options, error) => {
    const url = options
      ? (await startMailServer(options)).url
      : `smtp://127.0.0.1:${await findFreePort()}`;
    const { gateway, community, application } = await startWithMail(url);
    const known = { customAuthSub: 'known', email: 'old@example.com' };
    await application.updateBrand({ magicLinkDelivery: 'RETURNED' });
    await community.createMagicLink(known);
    await application.updateBrand({ magicLinkDelivery: 'EMAIL' });
    const before = await community.readAll();
    for (const customAuthSub of ['known', 'new']) {
      const refused: Json = await community.createMagicLink({
        customAuthSub,
        email: 'secret-address@example.com',
      });
      expect(refused).toMatchObject({ userId: null, url: null, userErrors: [error] });
    }
    expect(await community.readAll()).toEqual(before);
    expect(gateway.logLines.some(({ msg }) => msg === 'a magic link could not be mailed')).toBe(
      true,
    );
    expect(JSON.stringify(gateway.logLines)).not.toContain('secret-address');
  });

  it('gives up on a mail server that says nothing, and lets others be served meanwhile', async () => {
    const server = await startMailServer({ onConnect: () => {} });
    const { gateway, community } = await startWithMail(server.url);
    const startedAt = performance.now();
    const waiting = community.createMagicLink({ customAuthSub: 's', email: 'mara@example.com' });
    const others = await gateway.createBrand('Others');
    for (let index = 0; index < 20; index++) await others.ask('{ brand { name } }');
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect((await waiting).userErrors[0].code).toBe('MAIL_UNAVAILABLE');
    expect(performance.now() - startedAt).toBeLessThan(16_000);
  });

  it('says that no mail server is configured', async () => {
    const { community } = await startWithMail(undefined);
    const refused = await community.createMagicLink({
      customAuthSub: 's',
      email: 'mara@example.com',
    });
    expect(refused.userErrors).toEqual([
      { code: 'MAIL_UNAVAILABLE', field: null, message: expect.stringContaining('SMTP_URL') },
    ]);
    expect((await community.readAll()).members.totalCount).toBe(0);
  });
});

function smtpError(responseCode: number): Error {
  return Object.assign(new Error('No, secret-address@example.com'), { responseCode });
}
