import type { Load, LoadOptions } from "./system.js";

/** Runs callers that each make one call after another. The first failure stops all of them. */
export async function run(
  call: (number: number) => Promise<unknown>,
  { from, count, callers, secondsMax, until }: LoadOptions & { until?: AbortSignal | undefined },
): Promise<Load> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + secondsMax * 1000;
  let next = from;
  const caller = async () => {
    while (next < from + count && performance.now() < endMs && !until?.aborted) {
      const number = next++;
      const beganMs = performance.now();
      await call(number).catch((error) => {
        next = Number.POSITIVE_INFINITY;
        throw error;
      });
      latenciesMs.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { latenciesMs, seconds: (performance.now() - startMs) / 1000 };
}
