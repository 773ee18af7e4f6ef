/** Within this time of the first signal, another one is the same one. */
const ECHO_MS = 500;

/**
 * Calls `stop` once, at the first SIGTERM or SIGINT. A later one ends the process at once, with
 * code 1; but not the echo of the first: Ctrl-C reaches the process from the terminal, and again
 * from npm, which hands it on.
 */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  let stoppedAt: number | undefined;
  const listen = (signal: NodeJS.Signals) => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now();
      stop(signal);
    } else if (performance.now() - stoppedAt > ECHO_MS) process.exit(1);
  };
  process.on('SIGTERM', listen);
  process.on('SIGINT', listen);
}
