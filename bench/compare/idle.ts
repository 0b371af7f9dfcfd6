import { setTimeout as sleep } from "node:timers/promises";
import { processTime } from "./threads.js";

const SAMPLE_MS = 1000;
/** Processor time of one sample, in milliseconds, up to which processes count as idle: a profiler takes some, too. */
const IDLE_MS = 300;
const TIMEOUT_MS = 300_000;

/**
 * Waits until processes are idle: by then, the indexes of what was just written are built. Some systems build
 * while they write, others after it, and neither is to be measured beside the calls.
 *
 * @throws Error if they are busy for five minutes.
 */
export async function idle(pids: readonly number[]): Promise<void> {
  const endMs = performance.now() + TIMEOUT_MS;
  for (let before = usedBy(pids); ; ) {
    await sleep(SAMPLE_MS);
    const now = usedBy(pids);
    if (now - before <= IDLE_MS) return;
    if (performance.now() > endMs) throw new Error(`processes ${pids.join(", ")} do not become idle`);
    before = now;
  }
}

/** Processor time of processes so far, in milliseconds; 0 where the system does not tell. */
function usedBy(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (processTime(pid) ?? 0), 0);
}
