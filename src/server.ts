import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';

import { authenticate } from './api-keys/service.ts';
import { type Config, formatOrigin } from './config.ts';
import { type DataDir, openDataDir } from './database/data-dir.ts';
import { type Database, openDatabase } from './database/database.ts';
import { EXAMPLE_PLATFORM_QUERY, EXAMPLE_QUERY } from './demo/queries.ts';
import { ensureDemo } from './demo/service.ts';
import { UnauthenticatedError } from './errors.ts';
import { startSequencer } from './events/sequencer.ts';
import type { Context } from './graphql/context.ts';
import { createPageHandler, isLoopbackName } from './graphql/graphiql.ts';
import { createGraphqlHandler, type GraphqlHandler } from './graphql/http.ts';
import { Loaders } from './graphql/loaders.ts';
import { brandSchema } from './graphql/schema.ts';
import { createHttpServer, type Route } from './http-server.ts';
import { createLinkMailer } from './magic-links/mail.ts';
import { createLinkPage, MAGIC_LINK_PATH } from './magic-links/page.ts';
import type { LinkOutlet } from './magic-links/service.ts';
import type { PlatformContext } from './platform/builder.ts';
import { platformSchema } from './platform/schema.ts';

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
    return config.publicUrl ?? formatOrigin(config.host, server.readPort());
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
  const server = createHttpServer({ routes, showLink: createLinkPage(em), log });
  try {
    await server.listen(config.host, config.port);
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
      await server.close();
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
