import type { IncomingMessage } from 'node:http';

import type { GraphiQLOptions } from 'graphql-yoga';

/** What the page starts with. */
interface PageOptions {
  title: string;
  query: string;
  /** A key to fill in for whoever opens the page on this very machine; nobody else is given it. */
  localKey?: string | undefined;
}

/**
 * The GraphiQL page, complete in itself: a browser without internet shows it too. The package that
 * holds it has 9 MB, so it is loaded when somebody first opens the page.
 */
export async function renderGraphiql(
  request: IncomingMessage,
  { title, query, localKey }: PageOptions,
): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const key = localKey && isFromThisMachine(request) ? localKey : 'YOUR_KEY';
  const headers = JSON.stringify({ Authorization: `Bearer ${key}` }, null, 2);
  const options: GraphiQLOptions = {
    title,
    defaultQuery: query,
    headers,
    defaultEditorToolsVisibility: 'headers',
  };
  return renderGraphiQL(options).replace(/<body[^>]*>/, (body) => body + prepareTabs(title, query));
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

const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Whether a browser on this machine itself opened the page, by its address. The address alone is
 * not enough: behind a proxy here everybody's is loopback, and a hostile site may point a name of
 * its own at 127.0.0.1 and open the page under that; so the name must be this machine's too.
 */
function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  if (FORWARDING_HEADERS.some((name) => headers[name] !== undefined)) return false;
  const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  const name = headers.host?.replace(/:\d+$/, '') ?? '';
  return isLoopback(address) && (name === 'localhost' || isLoopback(name.replace(/^\[|\]$/g, '')));
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}
