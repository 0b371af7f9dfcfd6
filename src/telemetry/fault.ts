import { MemoryError } from "../errors.js";
import { Sealed } from "../memory/log/replica.js";

/** Reasons for which the server ends a call: its caller has gone, or its time is over. */
const ENDED = ["AbortError", "ConnectError"];

/**
 * Tells whether a step failed through a fault of the service. A used-up plan, a namespace that moved, and
 * a call that was ended are no faults.
 */
export function isFault(error: unknown): boolean {
  if (error instanceof MemoryError) return error.code === "unavailable" || error.code === "internal";
  if (error instanceof Error && ENDED.includes(error.name)) return false;
  return !(error instanceof Sealed);
}
