import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { join } from 'node:path';

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';

import { authenticate } from './api-keys/service.ts';
import { type Config, formatOrigin } from './config.ts';
import { type DataDir, openDataDir } from './database/data-dir.ts';
import { type Database, openDatabase } from './database/database.ts';
import { newId } from './database/ids.ts';
import { EXAMPLE_PLATFORM_QUERY, EXAMPLE_QUERY } from './demo/queries.ts';
import { ensureDemo } from './demo/service.ts';
import { UnauthenticatedError } from './errors.ts';
import { startSequencer } from './events/sequencer.ts';
import type { Context } from './graphql/context.ts';
import { MASKED_MESSAGE } from './graphql/errors.ts';
import { createPageHandler, isLoopbackName, type PageHandler } from './graphql/graphiql.ts';
import { createGraphqlHandler, type GraphqlHandler, type RequestFacts } from './graphql/http.ts';
import { Loaders } from './graphql/loaders.ts';
import { brandSchema } from './graphql/schema.ts';
import { createLinkMailer } from './magic-links/mail.ts';
import { createLinkPage, MAGIC_LINK_PATH, showFault } from './magic-links/page.ts';
import type { LinkOutlet } from './magic-links/service.ts';
import type { PlatformContext } from './platform/builder.ts';
import { platformSchema } from './platform/schema.ts';

/** How long running requests may take to finish once the service is told to stop. */
const DRAIN_TIMEOUT_MS = 10_000;

/** How long a client may take over its headers, and over its whole request. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;

/** How long a connection may stand still, also in the middle of an answer that nobody reads. */
const IDLE_TIMEOUT_MS = 120_000;

const MAX_REQUEST_ID = 128;

/** What one path answers: GraphQL, and a page to try it on for a browser that opens it. */
interface Route {
  answer: GraphqlHandler;
  showPage: PageHandler;
}

/** A running gateway. */
export interface Gateway {
  /** Where clients reach it, without a slash at the end. */
  url: string;
  platformKey: string;
  /** The demo brand's key; undefined where there is no demo. */
  demoKey: string | undefined;
  /** Finishes the requests that are running, for 10 seconds at the most, and gives everything up. */
  close(): Promise<void>;
}

/** The HTTP server could not listen where it was told to. */
export class ListenError extends Error {
  override name = 'ListenError';
}

/**
 * Starts the whole service: takes the data directory, opens and migrates the database, makes the
 * demo, and listens. What was opened is closed again when a later step fails.
 *
 * @throws {DataDirError | DatabaseError | ListenError} saying what is in the way.
 */
export async function startGateway(config: Config, log: Logger): Promise<Gateway> {
  const dataDir = config.databaseUrl === undefined ? openDataDir(config.dataDir) : undefined;
  let database: Database | undefined;
  try {
    database = await openDatabase(
      config.databaseUrl === undefined
        ? { kind: 'embedded', dataDir: join(config.dataDir, 'database') }
        : { kind: 'postgresql', url: config.databaseUrl },
    );
    return await serve(config, log, database, dataDir);
  } catch (error) {
    await database?.close();
    dataDir?.release();
    throw error;
  }
}

async function serve(
  config: Config,
  log: Logger,
  database: Database,
  dataDir: DataDir | undefined,
): Promise<Gateway> {
  const { em } = database;
  const platformKey = config.platformKey ?? dataDir?.ensureSecret('platform-key');
  if (platformKey === undefined)
    throw new Error('Without a data directory a PLATFORM_KEY is needed.');
  const demoKey = dataDir && config.isDemoEnabled ? await ensureDemo(em, dataDir) : undefined;

  /** Where clients reach the service; known once it listens, since the port may be any free one. */
  const readUrl = () => {
    const { port } = server.address() as AddressInfo;
    return config.publicUrl ?? formatOrigin(config.host, port);
  };
  const linkOutlet: LinkOutlet = {
    toUrl: (token) => `${readUrl()}${MAGIC_LINK_PATH}${token}`,
    sendLink: createLinkMailer({ smtpUrl: config.smtpUrl, from: readMailFrom(config), log }),
  };

  // Behind a public address everybody may come by way of this machine.
  const localKey = isPublic(config) ? undefined : demoKey;
  const routes = new Map<string, Route>([
    [
      '/graphql',
      {
        answer: createBrandHandler(em, linkOutlet, log),
        showPage: createPageHandler({ title: 'Community gateway', query: EXAMPLE_QUERY, localKey }),
      },
    ],
    [
      '/platform',
      {
        answer: createPlatformHandler(em, platformKey, log),
        showPage: createPageHandler({ title: 'Community platform', query: EXAMPLE_PLATFORM_QUERY }),
      },
    ],
  ]);
  const sequencer = await startSequencer({ em, log, retentionDays: config.eventRetentionDays });
  const showLink = createLinkPage(em);
  const open = new Set<ServerResponse>();
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      open.add(response);
      response.once('close', () => open.delete(response));
      // While it drains the server takes no new connection, and gives no used one a next request.
      response.shouldKeepAlive &&= server.listening;
      void handle(request, response, { routes, showLink, log });
    },
  );
  server.setTimeout(IDLE_TIMEOUT_MS);
  try {
    await listen(server, config);
  } catch (error) {
    await sequencer.close();
    throw error;
  }
  if (config.publicUrl === undefined && isUnspecified(config.host)) {
    log.warn({ url: readUrl() }, 'magic links lead to this address; PUBLIC_URL sets another');
  }
  return {
    url: readUrl(),
    platformKey,
    demoKey,
    close: async () => {
      await drain(server, open);
      await sequencer.close();
      await database.close();
      dataDir?.release();
    },
  };
}

/** Whether a host is no address that somebody could reach, but stands for all of them. */
function isUnspecified(host: string): boolean {
  return host === '0.0.0.0' || /^(0*:)*0*$/.test(host);
}

function isPublic({ publicUrl }: Config): boolean {
  return publicUrl !== undefined && !isLoopbackName(new URL(publicUrl).hostname);
}

/** The address that mails come from: the one that is configured, or one at the public URL's host. */
function readMailFrom({ mailFrom, publicUrl }: Config): string {
  const host = publicUrl === undefined ? 'localhost' : new URL(publicUrl).hostname;
  const isName = !isIP(host.replace(/^\[|\]$/g, ''));
  return mailFrom ?? `no-reply@${isName ? host : 'localhost'}`;
}

function createBrandHandler(
  em: EntityManager,
  linkOutlet: LinkOutlet,
  log: Logger,
): GraphqlHandler {
  return createGraphqlHandler({
    schema: brandSchema,
    path: '/graphql',
    authenticate: async (token, { logFields }) => {
      const viewer = await authenticate(em, token);
      logFields.brandId = viewer.brand.id;
      logFields.apiKeyPrefix = viewer.apiKeyPrefix;
      return viewer;
    },
    createContext: (viewer): Context => ({ viewer, em, loaders: new Loaders(), linkOutlet }),
    log,
  });
}

function createPlatformHandler(
  em: EntityManager,
  platformKey: string,
  log: Logger,
): GraphqlHandler {
  const expected = sha256(platformKey);
  return createGraphqlHandler({
    schema: platformSchema,
    path: '/platform',
    authenticate: async (token) => {
      if (token === null) {
        throw new UnauthenticatedError(
          'The platform key is needed: send Authorization: Bearer <PLATFORM_KEY>.',
        );
      }
      // Digests have one length, and comparing them tells nothing by the time it takes.
      if (!timingSafeEqual(sha256(token), expected)) {
        throw new UnauthenticatedError('The platform key is wrong.');
      }
      return {};
    },
    createContext: (): PlatformContext => ({ em }),
    log,
  });
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** What the service answers with. */
interface Answers {
  routes: Map<string, Route>;
  showLink: ReturnType<typeof createLinkPage>;
  log: Logger;
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

function listen(server: Server, { host, port }: Config): Promise<void> {
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
