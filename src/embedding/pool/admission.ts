import { MemoryError } from "../../errors.js";
import { SERVICE } from "../../memory/ports/embedder.js";
import type { EmbedQueue } from "./embed-queue.js";
import type { Task } from "./task.js";

/**
 * Share of a call's remaining time within which a text must be expected to be done to be admitted. The
 * rest is left for later arrivals, because other accounts take turns too.
 */
export const ADMITTED_SHARE = 0.7;
/** Share of a call's time after which a text is given up; the rest is for storing its memory. */
export const USABLE_SHARE = 0.9;
/**
 * A waiting text is given up only if this share of the estimate is too long, because a machine may be
 * busy for a moment.
 */
const CERTAIN_SHARE = 0.7;
/** Limits of the pause that a refused caller is told. */
const RETRY_MS = { min: 1_000, max: 30_000 };

/** The waiting texts, and the time that all readers together need for a cost of 1. */
export interface Prospect {
  readonly waiting: EmbedQueue;
  readonly msPerCost: number;
}

/**
 * Refuses a text that would not be done before its call's deadline. If nothing else waits it is admitted
 * anyway: otherwise an estimate that is too high would never be corrected.
 *
 * @throws MemoryError `unavailable` (MODEL_BUSY).
 */
export function admit(task: Task, { waiting, msPerCost }: Prospect): void {
  const { deadlineMs, owner } = task.input;
  if (deadlineMs === undefined || owner === SERVICE || waiting.size === 0) return;
  const untilMs = waiting.costUntil(task) * msPerCost;
  const allowedMs = (deadlineMs - task.arrivedMs) * ADMITTED_SHARE;
  if (untilMs > allowedMs) throw busy({ untilMs, allowedMs });
}

/** Gives up admitted texts that can no longer be done in time. */
export function giveUpLate({ waiting, msPerCost }: Prospect): void {
  const nowMs = performance.now();
  const allowedMs = ({ input, arrivedMs }: Task) => {
    const { deadlineMs = Number.POSITIVE_INFINITY } = input;
    return arrivedMs + (deadlineMs - arrivedMs) * USABLE_SHARE - nowMs;
  };
  const late = waiting.late(msPerCost, (task, untilMs) => {
    // A reader may as well finish what it has.
    return task.next !== undefined && untilMs * CERTAIN_SHARE > allowedMs(task);
  });
  for (const task of late) {
    waiting.remove(task);
    task.reject(busy({ untilMs: waiting.costUntil(task) * msPerCost, allowedMs: allowedMs(task) }));
  }
}

function busy({ untilMs, allowedMs }: { untilMs: number; allowedMs: number }): MemoryError {
  const retryAfterMs = Math.min(RETRY_MS.max, Math.max(RETRY_MS.min, Math.ceil(untilMs - allowedMs)));
  const seconds = Math.ceil(untilMs / 1000);
  return new MemoryError(
    "unavailable",
    `the model has too much to read before this: it would take about ${seconds} s, and the call has less`,
    { reason: "MODEL_BUSY", retryAfterMs },
  );
}
