import type { IncomingMessage, ServerResponse } from 'node:http';

import type { GraphiQLOptions } from 'graphql-yoga';

/** What the page starts with. */
interface PageOptions {
  title: string;
  query: string;
  /** A key to fill in for whoever opens the page on this very machine; nobody else is given it. */
  localKey?: string | undefined;
}

/** Answers a browser that opens the path of an interface. */
export type PageHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Serves the GraphiQL page, complete in itself: a browser without internet shows it too. It has
 * 9 MB, so it is made when somebody first opens it, and all who are slow to read it share it.
 */
export function createPageHandler({ title, query, localKey }: PageOptions): PageHandler {
  const pages = new Map<string, Buffer>();
  return async (request, response) => {
    const key = localKey && isFromThisMachine(request) ? localKey : 'YOUR_KEY';
    const page = pages.get(key) ?? (await renderPage(title, query, key));
    pages.set(key, page);
    // No other site may read or frame it: there may be a key in it.
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    };
    response.writeHead(200, headers).end(page);
  };
}

async function renderPage(title: string, query: string, key: string): Promise<Buffer> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const options: GraphiQLOptions = {
    title,
    defaultQuery: query,
    headers: JSON.stringify({ Authorization: `Bearer ${key}` }, null, 2),
    defaultEditorToolsVisibility: 'headers',
  };
  const page = renderGraphiQL(options);
  return Buffer.from(page.replace(/<body[^>]*>/, (body) => body + prepareTabs(title, query)));
}

/**
 * GraphiQL keeps its state in the browser, for all pages of this address together, and would open
 * one more tab on every visit. So each page begins with one tab: with the query that was last
 * written on it, or with its example.
 */
function prepareTabs(page: string, query: string): string {
  return `<script>
    localStorage.removeItem('graphiql:tabState');
    if (localStorage.getItem('gateway:page') !== ${JSON.stringify(page)}) {
      localStorage.setItem('gateway:page', ${JSON.stringify(page)});
      localStorage.setItem('graphiql:query', ${JSON.stringify(query)});
      localStorage.setItem('graphiql:variables', '');
    }
  </script>`;
}

/** What proxies add to a request that they hand on; also every header that begins x-forwarded-. */
const FORWARDING_HEADERS =
  /^(forwarded|via|x-(forwarded-.*|real-ip|client-ip)|true-client-ip|cf-.*)$/;

/**
 * Whether a browser on this machine itself opened the page, by its address. The address alone is
 * not enough: behind a proxy here everybody's is loopback, and a hostile site may point a name of
 * its own at 127.0.0.1 and open the page under that; so the name must be this machine's too.
 * Browsers speak HTTP/1.1; a proxy that adds nothing at all often speaks 1.0.
 */
function isFromThisMachine({ headers, httpVersion, rawHeaders, socket }: IncomingMessage): boolean {
  if (httpVersion === '1.0' || Object.keys(headers).some((h) => FORWARDING_HEADERS.test(h)))
    return false;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name));
  if (hosts.length !== 1) return false;
  const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  const name = headers.host?.replace(/:\d+$/, '') ?? '';
  return isLoopback(address) && isLoopbackName(name);
}

/** Whether a host name, an IPv6 address in brackets, is this machine's own and nobody else's. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || isLoopback(name.replace(/^\[|\]$/g, ''));
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}
