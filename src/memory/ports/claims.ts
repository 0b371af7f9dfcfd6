import type { Stored } from "./log.js";
import type { Records } from "./records.js";

/** A caller's idempotency key, bound to the one memory that its store makes. */
export interface Claim {
  /** Hash of the account and the key. */
  readonly id: string;
  /** SHA-256 of the request, in hex: another request under the same key is refused. */
  readonly requestHash: string;
  readonly memoryId: string;
  /** The process that stores, and its attempt. */
  readonly owner: string;
  /** Time when the owner took the claim, by the wall clock. */
  readonly claimedAtMs: number;
  /** Time after which the key is free again, by the wall clock. */
  readonly expiresAtMs: number;
  /** The answer, once it is known. */
  readonly answer?: ClaimAnswer;
  /** True if all attempts so far have failed and were refunded, so that what they have stored is not paid, but `stored`. */
  readonly refunded?: boolean;
  /** Positions in the batch of what was stored, and told, before all of it was. */
  readonly stored?: readonly number[];
}

/** Answer of a store or an update; all but the first three only if the store asked for more. */
export interface Answered extends Pick<Stored, "id" | "tokens" | "createdAtMs"> {
  readonly outcome?: StoreOutcome;
  readonly etag?: string;
  readonly similar?: readonly Similar[];
  /** Memories of a batch that were kept, of which the log says nothing. */
  readonly kept?: readonly Kept[];
  /** Positions in the batch of what the attempt with this answer has paid for. */
  readonly paid?: readonly number[];
}

/** A memory that was there before a text like it was stored. */
export interface Similar {
  readonly id: string;
  readonly text: string;
  readonly score: number;
}

/** What a claim keeps of an answer: no texts, which may be erased before the claim. */
export interface ClaimAnswer extends Omit<Answered, "id" | "similar"> {
  /** Id of the memory, if it is not the claim's: an older one was replaced or kept. */
  readonly id?: string;
  readonly similar?: readonly Omit<Similar, "text">[];
}

/** A memory that a store of a batch kept. */
export interface Kept extends Pick<Stored, "id" | "tokens" | "createdAtMs"> {
  /** The store's position in the batch. */
  readonly place: number;
  readonly etag: string;
}

/** Outcome of a store with conditions: it made a memory, or a new version of one, or found it there. */
export type StoreOutcome = "CREATED" | "REPLACED" | "KEPT";

/**
 * The port to the claims, as records by their ids, of which expired ones make room for others. Every adapter passes
 * `test/contract/claims.ts`.
 */
export type Claims = Pick<Records<Claim>, "find" | "findOrInsert" | "update" | "remove">;
