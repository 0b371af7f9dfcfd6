import { MemoryError } from "../errors.js";
import { Sealed } from "../memory/replica.js";

/** Whether a step failed for a reason of ours. A plan that is used up, or a namespace that moved on, is none. */
export function isFault(error: unknown): boolean {
  if (error instanceof MemoryError) return error.code === "unavailable" || error.code === "internal";
  return !(error instanceof Sealed);
}
