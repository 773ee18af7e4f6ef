import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { EntityManager } from '@mikro-orm/postgresql';

import { findMagicLink, type LinkStanding, spendMagicLink } from './login.ts';

/** Where the pages of links are; the token follows. */
export const MAGIC_LINK_PATH = '/magic-links/';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 1.125rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 32rem; padding: 15vh 1.5rem 2rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
button { font: inherit; font-weight: 600; padding: .75rem 1.5rem; border: 2px solid; border-radius: .5rem; cursor: pointer; }
button:focus-visible { outline: .25rem solid; outline-offset: .25rem; }
`;

const STYLE_HASH = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

const GONE: Record<Exclude<LinkStanding['status'], 'GOOD'>, string> = {
  SPENT: 'This link has been used already',
  EXPIRED: 'This link has expired',
  VOID: 'This link no longer works',
};

/**
 * The page of a magic link. GET shows a button, so that a mail scanner that opens the link does not
 * spend it; POST, which the button does, spends it and redirects to the brand's community. A link
 * that is spent, expired or void is 410, an unknown one 404. The page has no scripts, loads
 * nothing, and says nothing of who the link is for.
 */
export function createLinkPage(em: EntityManager) {
  return async (request: IncomingMessage, response: ServerResponse, path: string) => {
    const token = path.slice(MAGIC_LINK_PATH.length);
    const { method = '' } = request;
    // A body says nothing here: it is not read, and the connection ends with the answer.
    if (hasBody(request)) response.shouldKeepAlive = false;
    if (!['GET', 'HEAD', 'POST'].includes(method)) {
      response.setHeader('allow', 'GET, HEAD, POST');
      return show(response, 405, 'This page only shows a button', 'Open the link in a browser.');
    }
    if (method === 'POST' && !isFromElsewhere(request)) {
      const location = await spendMagicLink(em, token);
      if (location !== null) return redirect(response, location);
    }
    const link = await findMagicLink(em, token);
    if (!link) {
      return show(
        response,
        404,
        'This link is unknown',
        'Check that you have opened all of it, or ask for a new one.',
      );
    }
    if (link.status !== 'GOOD') {
      const again = `Ask for a new one where you wanted to sign in to ${link.brandName}.`;
      return show(response, 410, GONE[link.status], again);
    }
    return showButton(response, link);
  };
}

/**
 * Whether another site's page sends the form, to sign somebody in as whom it wants. Browsers say so
 * themselves, over https; over http there is the Origin, which this page's own form sends as null,
 * since it lets no referrer out.
 */
function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const { 'sec-fetch-site': site, origin = 'null', host } = headers;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== 'null' && (!URL.canParse(origin) || new URL(origin).host !== host);
}

/** Says that the service has failed; nothing is known to have happened. */
export function showFault(response: ServerResponse, requestId: string): void {
  const text = `Try again in a moment. If it goes on, the number of this request helps to find out why: ${requestId}`;
  show(response, 500, 'Something went wrong', text);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { ...headersFor([]), location }).end();
}

function showButton(response: ServerResponse, { brandName, communityUrl }: LinkStanding): void {
  const title = `Sign in to ${brandName}`;
  const headers = headersFor(formTargetsOf(new URL(communityUrl)));
  const body = `<form method="post"><button type="submit">Sign in</button></form>`;
  response.writeHead(200, headers).end(renderPage(title, body));
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Where the form may lead. Browsers hold every redirect that answers a form to the same rule as the
 * form: the brand's community must be allowed, and whatever of its own it leads on to, as from
 * example.com to www.example.com.
 */
function formTargetsOf({ origin, hostname, protocol }: URL): string[] {
  // A policy has no form for an IPv6 address.
  const own = hostname.startsWith('[') ? [] : [origin];
  return ["'self'", ...own, ...(protocol === 'http:' ? ['http:', 'https:'] : ['https:'])];
}

function show(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, headersFor([])).end(renderPage(title, `<p>${escapeHtml(text)}</p>`));
}

function headersFor(formTargets: string[]): Record<string, string> {
  const formAction = formTargets.length > 0 ? formTargets.join(' ') : "'none'";
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': `default-src 'none'; style-src ${STYLE_HASH}; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex',
  };
}

function renderPage(title: string, body: string): string {
  const heading = escapeHtml(title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${heading}</h1>
${body}
</main>
</body>
</html>
`;
}

/** Text as it stands in HTML, between tags or in a quoted attribute. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
