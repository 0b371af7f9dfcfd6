import { MemoryError } from "../errors.js";
import { Sealed } from "../memory/log/replica.js";

/** What the doors give as the reason when they end a call: its caller went away, or its time is over. */
const ENDED = ["AbortError", "ConnectError"];

/**
 * Whether a step failed for a reason of ours. A plan that is used up, a namespace that moved on, or a call
 * that was ended is none.
 */
export function isFault(error: unknown): boolean {
  if (error instanceof MemoryError) return error.code === "unavailable" || error.code === "internal";
  if (error instanceof Error && ENDED.includes(error.name)) return false;
  return !(error instanceof Sealed);
}
