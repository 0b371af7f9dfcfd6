import { MemoryError } from "../../errors.js";
import { SERVICE } from "../../memory/ports/embedder.js";
import type { EmbedQueue } from "./embed-queue.js";
import type { Task } from "./task.js";

/**
 * A text is let in when it is expected to be done within this share of the time that its call has
 * left. The rest is for what comes after it: other accounts have their turns as well.
 */
export const ADMITTED_SHARE = 0.7;
/** A text that cannot be done within this share is given up; the rest is for storing its memory. */
export const USABLE_SHARE = 0.9;
/** What waits is given up only when this share of the estimate is too long: for a moment a machine may be busy. */
const CERTAIN_SHARE = 0.7;
/** The shortest and the longest pause that a refused caller is told. */
const RETRY_MS = { min: 1_000, max: 30_000 };

/** What the model can do: the texts that wait for it, and how long a cost of 1 takes all its readers together. */
export interface Prospect {
  readonly waiting: EmbedQueue;
  readonly msPerCost: number;
}

/**
 * Refuses a text that would not be done before its call's deadline. Where nothing else waits it is
 * let in all the same: an estimate that is too high would otherwise never be corrected.
 *
 * @throws MemoryError `unavailable` (MODEL_BUSY).
 */
export function admit(task: Task, { waiting, msPerCost }: Prospect): void {
  const { deadlineMs, owner } = task.input;
  if (deadlineMs === undefined || owner === SERVICE || waiting.isEmpty) return;
  const untilMs = waiting.costUntil(task) * msPerCost;
  const allowedMs = (deadlineMs - task.arrivedMs) * ADMITTED_SHARE;
  if (untilMs > allowedMs) throw busy({ untilMs, allowedMs });
}

/** Gives up the texts that were let in and cannot be done in time any more. */
export function giveUpLate({ waiting, msPerCost }: Prospect): void {
  const nowMs = performance.now();
  const allowedMs = ({ input, arrivedMs }: Task) => {
    const { deadlineMs = Number.POSITIVE_INFINITY } = input;
    return arrivedMs + (deadlineMs - arrivedMs) * USABLE_SHARE - nowMs;
  };
  const late = waiting.late(msPerCost, (task, untilMs) => {
    // What a reader has already it may as well finish.
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
