import { request } from 'node:http';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { findFreePort } from './support/postgres-server.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ isDemoEnabled: true });
});
afterAll(() => gateway?.close());

/** Opens the page as a browser would; fetch does not let one set Host. */
function open(path: string, headers: Record<string, string> = {}, url = gateway.url) {
  return new Promise<{ headers: NodeJS.Dict<string | string[]>; status: number; page: string }>(
    (resolve, reject) => {
      request(`${url}${path}`, { headers: { accept: 'text/html', ...headers } }, (response) => {
        let page = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (page += chunk));
        response.on('end', () =>
          resolve({ headers: response.headers, status: response.statusCode ?? 0, page }),
        );
      })
        .on('error', reject)
        .end();
    },
  );
}

const keyIn = (page: string) => /Bearer (cgw_sk_[\w-]+|YOUR_KEY)/.exec(page)?.[1];
const port = () => new URL(gateway.url).port;

describe('GraphiQL', () => {
  it('opens without a key, whole in itself, with an example query', async () => {
    const { status, page, headers } = await open('/graphql');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page).toContain('query FirstLook');
    const markup = page.replaceAll(/<script>[^]*?<\/script>|<style>[^]*?<\/style>/g, '');
    expect(markup).not.toMatch(/(?:src|href)="(?!data:)/);
    expect(page.slice(-3000)).not.toMatch(/<script src|<link/);
    expect(page.includes("localStorage.removeItem('graphiql:tabState')")).toBe(true);
  });

  it('is given the demo key only on this machine, by address and by name, with no proxy between', async () => {
    const demo = keyIn((await open('/graphql')).page);
    // On PostgreSQL there is no demo.
    const expected = gateway.demoKey ?? 'YOUR_KEY';
    expect(demo).toBe(expected);
    expect(keyIn((await open('/graphql', { host: `localhost:${port()}` })).page)).toBe(expected);
    const others: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: `127.0.0.1.evil.example:${port()}` },
      { 'x-forwarded-for': '203.0.113.9' },
      { forwarded: 'for=203.0.113.9' },
      { via: '1.1 proxy' },
      { 'x-forwarded-proto': 'https' },
      { 'cf-connecting-ip': '203.0.113.9' },
    ];
    for (const headers of others)
      expect(keyIn((await open('/graphql', headers)).page)).toBe('YOUR_KEY');
  });

  it('is given no key where the service has a public address', async () => {
    for (const publicUrl of ['https://api.example', 'http://localhost:9999']) {
      const config = { isDemoEnabled: true, port: await findFreePort(), publicUrl };
      const published = await startTestGateway(config);
      const { page } = await open('/graphql', {}, `http://127.0.0.1:${config.port}`);
      const local = published.demoKey ?? 'YOUR_KEY';
      expect(keyIn(page)).toBe(publicUrl.includes('localhost') ? local : 'YOUR_KEY');
      await published.close();
    }
  });

  it('can be read and framed by no other site', async () => {
    const { headers } = await open('/graphql', { origin: 'https://evil.example' });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['cache-control']).toBe('no-store');
  });

  it('opens for the platform interface too, never with a key', async () => {
    const { page } = await open('/platform');
    expect(page).toContain('query Brands');
    expect(keyIn(page)).toBe('YOUR_KEY');
  });
});
