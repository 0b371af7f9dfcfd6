import type { Scope } from "./names.js";
import type { Records } from "./records.js";

/** Record of an erasure. It is kept until the erasure is done, so that a crash cannot hide it. */
export interface Erasure {
  readonly id: string;
  readonly scope: Scope;
  /** Log that is erased; absent if only the records of calls are, a second time, after a drop. */
  readonly logId?: string;
  /** The number of one memory; undefined means the whole log. */
  readonly sequence?: number;
  /** Time when it began, by the wall clock. */
  readonly begunAtMs: number;
}

export type LogErasure = Erasure & { readonly logId: string };

/**
 * The port to the running erasures, as records by their ids. Every adapter passes `test/contract/erasures.ts`. One that is
 * begun again keeps its first record: several processes may meet the same end of a log.
 */
export type Erasures = Pick<Records<Erasure>, "findOrInsert" | "remove" | "list">;
