import type { Logger } from 'pino';

import { type Config, ConfigError, readConfig } from './config.ts';
import { DataDirError } from './database/data-dir.ts';
import { DatabaseError } from './database/database.ts';
import { ListenError } from './http-server.ts';
import { createLog } from './log.ts';
import { type Gateway, startGateway } from './server.ts';
import { onStopSignal } from './signals.ts';

/** What stands in the way of a start is said in words; anything else is ours and keeps its stack. */
const EXPECTED_FAILURES = [ConfigError, DataDirError, DatabaseError, ListenError];

try {
  const config = readConfig();
  const log = createLog(config.logLevel);
  const gateway = await startGateway(config, log);
  log.info({ url: gateway.url }, 'listening');
  console.log(formatWelcome(config, gateway));
  stopOnSignal(gateway, log);
} catch (error) {
  const isExpected = EXPECTED_FAILURES.some((kind) => error instanceof kind);
  console.error(isExpected ? (error as Error).message : error);
  process.exitCode = 1;
}

/**
 * What somebody needs who has just started it: the addresses, and with the embedded kind, which has
 * made them itself, the keys and a line to paste.
 */
function formatWelcome(config: Config, { url, demoKey, platformKey }: Gateway): string {
  const addresses = [
    '',
    `  GraphQL       ${url}/graphql   (open it in a browser to try it)`,
    ...(demoKey ? [`  Demo key      ${demoKey}`] : []),
    `  Platform      ${url}/platform`,
  ];
  if (config.databaseUrl !== undefined) return [...addresses, ''].join('\n');
  const [path, key, query] = demoKey
    ? ['graphql', demoKey, '{ brand { name } products(first: 3) { nodes { title } } }']
    : ['platform', platformKey, '{ brands { nodes { id name } } }'];
  return [
    ...addresses,
    `  Platform key  ${platformKey}`,
    `  Data          ${config.dataDir}`,
    '',
    `  curl -s ${url}/${path} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify({ query })}'`,
    '',
  ].join('\n');
}

/** Stops cleanly at the first SIGTERM or SIGINT, and at once at the second. */
function stopOnSignal(gateway: Gateway, log: Logger): void {
  const stop = async (signal: string) => {
    log.info({ signal }, 'stopping');
    await gateway.close();
    log.info('stopped');
    process.exit(0);
  };
  onStopSignal((signal) => void stop(signal));
}
