import { performance } from 'node:perf_hooks';

/** Works one after the other, after a warm-up of a third, and prints how long one took. */
export async function measure(
  what: string,
  work: () => Promise<unknown>,
  runs = 300,
): Promise<void> {
  for (let index = 0; index < runs / 3; index++) await work();
  const times: number[] = [];
  for (let index = 0; index < runs; index++) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  printTimes(what, times);
}

/** Prints the median and the 99th percentile of some durations in milliseconds. */
export function printTimes(what: string, times: number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const [median, p99] = [0.5, 0.99].map((share) =>
    sorted[Math.floor(sorted.length * share)]!.toFixed(2),
  );
  console.log(`${what}: median ${median} ms, p99 ${p99} ms`);
}
