import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Logger } from 'pino';

import { formatOrigin } from './config.ts';
import { newId } from './database/ids.ts';
import { MASKED_MESSAGE } from './graphql/errors.ts';
import type { PageHandler } from './graphql/graphiql.ts';
import type { GraphqlHandler, RequestFacts } from './graphql/http.ts';
import { type createLinkPage, MAGIC_LINK_PATH, showFault } from './magic-links/page.ts';

/** How long running requests may take to finish once the service is told to stop. */
const DRAIN_TIMEOUT_MS = 10_000;

/** How long a client may take over its headers, and over its whole request. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;

/** How long a connection may stand still, also in the middle of an answer that nobody reads. */
const IDLE_TIMEOUT_MS = 120_000;

const MAX_REQUEST_ID = 128;

/** What one path answers: GraphQL, and a page to try it on for a browser that opens it. */
export interface Route {
  answer: GraphqlHandler;
  showPage: PageHandler;
}

/** The HTTP server could not listen where it was told to. */
export class ListenError extends Error {
  override name = 'ListenError';
}

/** What the service answers with. */
interface Answers {
  routes: Map<string, Route>;
  showLink: ReturnType<typeof createLinkPage>;
  log: Logger;
}

/** The service's HTTP server. */
export interface HttpServer {
  /** The port that it listens on. */
  readPort(): number;
  /** Throws ListenError when it cannot. */
  listen(host: string, port: number): Promise<void>;
  /** Finishes the requests that are running, for 10 seconds at the most. */
  close(): Promise<void>;
}

/** Makes the server that finds the answer to each request, and logs one line for each. */
export function createHttpServer(answers: Answers): HttpServer {
  const open = new Set<ServerResponse>();
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      open.add(response);
      response.once('close', () => open.delete(response));
      // While it drains the server takes no new connection, and gives no used one a next request.
      response.shouldKeepAlive &&= server.listening;
      void handle(request, response, answers);
    },
  );
  server.setTimeout(IDLE_TIMEOUT_MS);
  return {
    readPort: () => (server.address() as AddressInfo).port,
    listen: (host, port) => listen(server, host, port),
    close: () => drain(server, open),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { routes, showLink, log }: Answers,
): Promise<void> {
  const startedAt = performance.now();
  const facts: RequestFacts = { requestId: readRequestId(request), logFields: {} };
  // A request line may hold the whole address (RFC 9112, 3.2.2); only its path counts here.
  request.url = request.url?.replace(/^https?:\/\/[^/?]*\/?/i, '/') || '/';
  const path = request.url.split('?', 1)[0] ?? '/';
  const isLinkPath = path.startsWith(MAGIC_LINK_PATH);
  response.setHeader('x-request-id', facts.requestId);
  response.setHeader('x-content-type-options', 'nosniff');
  response.once('close', () => {
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
    const status = response.writableFinished ? response.statusCode : 'aborted';
    const { requestId, logFields } = facts;
    // Whoever has the token of a link can sign in with it; the link may be mangled on the way.
    const masked = path.replace(/(?:[\w=-]|%[0-9a-f]{2}){40,}/gi, ':token');
    const shownPath = isLinkPath ? `${MAGIC_LINK_PATH}:token` : masked;
    const { method } = request;
    log.info({ requestId, method, path: shownPath, status, durationMs, ...logFields }, 'request');
  });
  try {
    const route = routes.get(path);
    if (!isGoodHost(request)) {
      refuse(response, 400, 'The Host header is malformed.', { code: 'BAD_USER_INPUT' });
    } else if (route && isOpenedByBrowser(request)) await route.showPage(request, response);
    else if (route) await route.answer(request, response, facts);
    else if (isLinkPath) await showLink(request, response, path);
    else if (path === '/') response.writeHead(302, { location: '/graphql' }).end();
    else {
      const message = `There is nothing at this path. Try ${[...routes.keys()].join(' or ')}.`;
      refuse(response, 404, message, { code: 'NOT_FOUND' });
    }
  } catch (error) {
    const { requestId } = facts;
    log.error({ requestId, err: error }, 'a request failed unexpectedly');
    if (response.headersSent) response.destroy();
    else if (isLinkPath) showFault(response, requestId);
    else refuse(response, 500, MASKED_MESSAGE, { code: 'INTERNAL_SERVER_ERROR', requestId });
  }
}

/** Whether the Host can be part of a URL, which what is behind here makes of it. */
function isGoodHost({ headers: { host = 'localhost' } }: IncomingMessage): boolean {
  return /^[\w.[\]:-]+$/.test(host) && URL.canParse(`http://${host}`);
}

function isOpenedByBrowser({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.accept?.includes('text/html') === true;
}

/** The caller's own id for the request, where it is fit for a log, or a new one. */
function readRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  const isFit =
    typeof given === 'string' && given.length <= MAX_REQUEST_ID && /^[\x21-\x7e]+$/.test(given);
  return isFit ? given : newId();
}

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  extensions: { code: string; requestId?: string },
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(`${JSON.stringify({ errors: [{ message, extensions }] })}\n`);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const place = formatOrigin(host, port);
      const reason =
        error.code === 'EADDRINUSE' ? 'the port is in use; set PORT to another' : error.message;
      reject(new ListenError(`Cannot listen on ${place}: ${reason}.`));
    });
    server.listen(port, host, resolve);
  });
}

function drain(server: Server, open: Set<ServerResponse>): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    for (const response of open) response.shouldKeepAlive = false;
    server.closeIdleConnections();
  });
}
