import { readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";

/**
 * Processes that run while nothing is measured yet. With more of them, systems of many threads suffer most.
 */
export const LOAD_MAX = 0.5;

/** Describes the machine in one line. */
export function machine(): string {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} x ${cpu?.model.trim()}, ${gigabytes} GiB, Node ${process.version}, ${process.platform} ${process.arch}`;
}

/** Returns the value below which a share of the measurements lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Measures the duration of some work, in milliseconds. */
export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const startMs = performance.now();
  const value = await work();
  return { ms: performance.now() - startMs, value };
}

/** Processor time of a process's main thread so far, in milliseconds: the first value of Linux's schedstat. */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}
