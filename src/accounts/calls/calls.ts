import type { Counts } from "../usage.js";

/** Record of a call that has ended. It holds no text, no query, no metadata and no secret. */
export interface CallRecord {
  /** Unique; sorts by the time at which the call ended. */
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  /** RPC as `service/method` of the contract. */
  readonly method: string;
  readonly protocol: string;
  /** Namespace that the call named; absent if none, or no valid name. */
  readonly namespace?: string;
  /** Outcome: `ok`, or the name of the error. */
  readonly code: string;
  /** Message of the error, without anything that the request holds. */
  readonly message?: string;
  /** Time at which the call began, by the wall clock. */
  readonly atMs: number;
  readonly ms: number;
  readonly requestId: string;
  /** Counts of a successful store or recall. */
  readonly used?: Counts;
}

/** Page of an account's records, the newest first. */
export interface CallsPage {
  readonly accountId: string;
  /** Id of the last record of the page before; undefined begins with the newest. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Records to erase: an account's, or those of one of its namespaces. */
export interface CallsErasure {
  readonly accountId: string;
  readonly namespace?: string;
  /** Only records of calls that began at this time or before. */
  readonly untilMs: number;
}

/** The port to the records of calls. Every adapter passes `test/contract/calls.ts`. */
export interface Calls {
  /** Adds records. One whose id is there already stays as it is, so a write may be repeated. */
  add(records: readonly CallRecord[]): Promise<void>;
  list(page: CallsPage): Promise<CallRecord[]>;
  erase(erasure: CallsErasure): Promise<void>;
  /**
   * Removes an account's oldest records: some of those that began before `beforeMs`, and of those beyond the
   * newest `max`. Returns true if more may be left to remove.
   */
  prune(old: { accountId: string; beforeMs: number; max: number }): Promise<boolean>;
  /** Finds the next account that has records, by id; undefined after the last one. */
  nextAccount(after: string): Promise<string | undefined>;
}
