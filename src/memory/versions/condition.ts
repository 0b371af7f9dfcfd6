import type { Appended, Log, Seen } from "../ports/log.js";

/** A log as it is before a number. */
export interface LogView {
  readonly log: Log;
  readonly logId: string;
  /** Number of the next entry: only those before it count. */
  readonly from: number;
  /** Time by which memories have expired. */
  readonly nowMs: number;
}

/** Outcome of a condition: an entry to write, or a memory that is there already and makes it needless. */
export type Decision = { readonly entry: Appended } | { readonly existing: Seen["head"] };

/** An entry that depends on the log before it. */
export interface Conditional {
  readonly opId: string;
  readonly bytes: number;
  /**
   * Decides from the log before a number. The outcome must depend on that log alone, because a write whose
   * outcome is unknown is decided again.
   *
   * @throws MemoryError if the log does not allow the entry, and Behind.
   */
  decide(view: Pick<LogView, "log" | "logId" | "from">): Promise<Decision>;
}

/** Thrown if the database has entries that the decision must wait for. */
export class Behind extends Error {}
