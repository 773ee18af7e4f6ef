import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A gateway in a process of its own, started as `npm start` does it. */
export interface GatewayProcess {
  process: ChildProcess;
  /** Where it answers, from its log. */
  url: string;
  /** What it has printed for people so far. */
  readOutput(): string;
  /** Sends a signal and waits until the process is gone; gives its exit code, null after a SIGKILL. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const START = [process.execPath, '--import', './src/require-node.js', 'src/main.ts'];

/**
 * Starts a gateway and waits until it listens.
 *
 * @throws with what it wrote to standard error, when it ends instead.
 */
export async function startProcess(
  environment: Record<string, string>,
  [command = '', ...args]: string[] = START,
): Promise<GatewayProcess> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const url = await Promise.race([waitForUrl(child, output), exit.then(() => null)]);
  if (url === null) {
    await once(child, 'close').catch(() => {});
    throw new Error(output.stderr);
  }
  return {
    process: child,
    url,
    readOutput: () => output.stdout,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const [code] = await exit;
      return code;
    },
  };
}

/** Runs a gateway that is expected not to start; gives its exit code and what it says. */
export async function failToStart(environment: Record<string, string>) {
  const [command = '', ...args] = START;
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let message = '';
  child.stderr.on('data', (chunk: Buffer) => (message += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, message };
}

async function waitForUrl(child: ChildProcess, output: { stderr: string }): Promise<string> {
  while (true) {
    const found = /"url":"([^"]+)"/.exec(output.stderr)?.[1];
    if (found) return found;
    await once(child.stderr!, 'data');
  }
}
