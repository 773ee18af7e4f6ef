// Plays the community application against a running gateway, until it is stopped:
// npm run activity -- --rate 5
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { type Config, ConfigError, formatOrigin, readConfig } from '../config.ts';
import { MAX_ACTIVITIES } from '../platform/activity.ts';
import type { Activity } from '../platform/community.ts';
import { onStopSignal } from '../signals.ts';
import { describe, Player } from './player.ts';

const USAGE = `Usage: npm run activity -- [--rate <activities a second>] [--brand <id>]   (mind the --)

Lets members join, post, like and comment in the community of a brand, at the rate given (0.1 to
500; 2 unless told), until it is stopped. The brand is the first one unless told. It finds the
gateway by the same PORT, HOST, PUBLIC_URL, DATA_DIR and PLATFORM_KEY as the gateway itself.
`;

const TIMEOUT_MS = 30_000;
const TICK_MS = 100;
const PAUSE_MS = 1_000;

/** What is in the way is said in words; anything else is ours and keeps its stack. */
class ActivityError extends Error {
  override name = 'ActivityError';
}

/** The gateway cannot be reached, or not just now: the same batch may be sent again. */
class UnreachableError extends ActivityError {
  override name = 'UnreachableError';
}

interface Options {
  rate: number;
  brandId: string | undefined;
}

const BRANDS = 'query ($first: Int!) { brands(first: $first) { nodes { id name } } }';
const BRAND = 'query ($id: ID!) { brand(id: $id) { id name } }';
const RECORD = `mutation ($input: RecordActivityInput!) {
  recordActivity(input: $input) { recordedCount skippedCount userErrors { code field message } }
}`;

try {
  await play(readOptions(), readConfig());
} catch (error) {
  const isExpected = error instanceof ActivityError || error instanceof ConfigError;
  console.error(isExpected ? error.message : error);
  process.exitCode = 1;
}

function readOptions(): Options {
  const options = {
    rate: { type: 'string' },
    brand: { type: 'string' },
    help: { type: 'boolean' },
  } as const;
  let values: { rate?: string; brand?: string; help?: boolean };
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new ActivityError(`${(error as Error).message}\n\n${USAGE}`);
  }
  if (values.help) throw new ActivityError(USAGE);
  const rate = Number(values.rate ?? 2);
  if (!(rate >= 0.1 && rate <= MAX_ACTIVITIES)) {
    throw new ActivityError(`--rate must be from 0.1 to ${MAX_ACTIVITIES}.\n\n${USAGE}`);
  }
  return { rate, brandId: values.brand };
}

/** Sends batches at the rate asked for. After one that did not get through, the same is sent again. */
async function play({ rate, brandId }: Options, config: Config): Promise<void> {
  const ask = createAsk(config);
  const brand = brandId
    ? (await ask(BRAND, { id: brandId })).brand
    : (await ask(BRANDS, { first: 1 })).brands.nodes[0];
  if (!brand) throw new ActivityError('There is no brand yet; createBrand at /platform makes one.');
  console.log(`${rate} activities a second in the community of ${brand.name}. Ctrl-C stops it.`);

  let hasStopped = false;
  onStopSignal(() => (hasStopped = true));
  const isStopped = () => hasStopped;
  let player = new Player();
  let total = 0;
  let owed = 1;
  let untold: Activity[] = [];
  let toldAt = 0;
  for (let before = performance.now(); !isStopped(); await sleep(TICK_MS)) {
    const now = performance.now();
    owed = Math.min(owed + ((now - before) / 1000) * rate, MAX_ACTIVITIES);
    before = now;
    if (owed < 1) continue;
    const batch = Array.from({ length: Math.floor(owed) }, () => player.invent());
    owed -= batch.length;
    const answer = await sendUntilTaken(ask, brand.id, batch, isStopped);
    if (!answer) break;
    total += answer.recordedCount;
    for (const { message } of answer.userErrors.slice(0, 1)) {
      console.log(`Refused: ${message} Beginning anew with other members.`);
      player = new Player();
    }
    if (answer.recordedCount > 0) untold.push(...batch);
    if (untold.length === 0 || performance.now() - toldAt < 1000) continue;
    console.log(`${describe(untold)}   (${total} in all)`);
    untold = [];
    toldAt = performance.now();
  }
  console.log(`Stopped after ${total} activities.`);
}

interface RecordAnswer {
  recordedCount: number;
  userErrors: { message: string }[];
}

/** Sends a batch, and again while the gateway is away: what was recorded by then is skipped. */
async function sendUntilTaken(
  ask: Ask,
  brandId: string,
  activities: Activity[],
  isStopped: () => boolean,
): Promise<RecordAnswer | null> {
  while (!isStopped()) {
    try {
      return (await ask(RECORD, { input: { brandId, activities } })).recordActivity;
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      console.log(`${error.message} Trying again.`);
      await sleep(PAUSE_MS);
    }
  }
  return null;
}

// What comes back is as the queries above ask for it.
// oxlint-disable-next-line typescript/no-explicit-any
type Ask = (query: string, variables: object) => Promise<any>;

function createAsk(config: Config): Ask {
  const address = `${config.publicUrl ?? formatOrigin(config.host, config.port)}/platform`;
  const key = readPlatformKey(config);
  return async (query, variables) => {
    let response: Response;
    try {
      response = await fetch(address, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch {
      throw new UnreachableError(`There is no gateway at ${address}; npm start starts one.`);
    }
    if (response.status >= 500) {
      throw new UnreachableError(`The gateway at ${address} answers ${response.status}.`);
    }
    const { data, errors } = (await response.json()) as {
      data?: object;
      errors?: { message: string }[];
    };
    if (errors?.[0]) throw new ActivityError(`${address} says: ${errors[0].message}`);
    return data;
  };
}

function readPlatformKey({ platformKey, dataDir }: Config): string {
  const file = join(dataDir, 'platform-key');
  if (platformKey !== undefined) return platformKey;
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  throw new ActivityError(
    `There is no platform key at ${file}. Start a gateway here with npm start, or set DATA_DIR or PLATFORM_KEY as it has it.`,
  );
}
