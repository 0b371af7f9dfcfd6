import type { Clock } from "../../concurrency/clock.js";
import type { Scope } from "./names.js";
import type { Records } from "./records.js";

/**
 * Record of the erasure of a log. It is kept until the erasure is done, so that a crash cannot hide it. That of one memory
 * needs none: its tombstone, or its next version, is in the log.
 */
export interface Erasure {
  readonly id: string;
  readonly scope: Scope;
  /** Log that is erased; absent if only the records of calls are, a second time, after a drop. */
  readonly logId?: string;
  /** Time when it began, by the wall clock. */
  readonly begunAtMs: number;
}

export type LogErasure = Erasure & { readonly logId: string };

/** Makes the record of a log's erasure. Every process makes the same one. */
export function erasureOf(scope: Scope, logId: string, clock: Clock): LogErasure {
  return { id: logId, scope, logId, begunAtMs: clock.wallMs() };
}

/**
 * The port to the running erasures, as records by their ids. Every adapter passes `test/contract/erasures.ts`. One that is
 * begun again keeps its first record: several processes may meet the same end of a log.
 */
export type Erasures = Pick<Records<Erasure>, "findOrInsert" | "remove" | "list">;
