import type { Appended, MemoryHeader } from "../ports/log.js";
import type { DomainPorts } from "../ports/ports.js";

/** A log as it is before a number. */
export interface LogView extends Pick<DomainPorts, "log" | "secondaryIndexes"> {
  readonly logId: string;
  /** Number of the next entry: only those before it count. */
  readonly from: number;
  /** Time by which memories have expired. */
  readonly nowMs: number;
}

/**
 * Outcome of a condition: an entry to write, or a memory that is there already and makes it needless. If the entry is not
 * the operation's own but must come before it, the condition is decided again behind it.
 */
export type Decision = { readonly entry: Appended } | { readonly existing: MemoryHeader };

/** An entry that depends on the log before it. */
export interface Conditional {
  readonly opId: string;
  readonly bytes: number;
  /**
   * Decides from the log before a number. The outcome must depend on that log alone, because a write whose
   * outcome is unknown is decided again.
   *
   * @throws MemoryError if the log does not allow the entry, and LogAdvancedError.
   */
  decide(view: Omit<LogView, "nowMs">): Promise<Decision>;
}

/** Thrown if the database has entries that the decision must wait for. */
export class LogAdvancedError extends Error {
  override readonly name = "LogAdvancedError";
  override readonly message = "the log has gone on since it was looked at";
}
