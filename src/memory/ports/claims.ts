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
  /** Places in the batch of what was stored, and told, before all of it was. */
  readonly stored?: readonly number[];
}

export interface ClaimAnswer {
  readonly tokens: number;
  readonly createdAtMs: number;
  /** Id of the memory, if it is not the claim's: an older one was replaced or kept. */
  readonly id?: string;
  readonly outcome?: StoreOutcome;
  readonly etag?: string;
  /** Similar memories; their texts are read again when the answer is repeated. */
  readonly similar?: readonly { readonly id: string; readonly score: number }[];
  /** Memories of a batch that were kept, of which the log says nothing. */
  readonly kept?: readonly Kept[];
}

export interface TakeOver extends Pick<Claim, "id" | "claimedAtMs" | "stored"> {
  readonly from: string;
  readonly to: string;
}

/** A memory that a store of a batch kept. */
export interface Kept {
  /** The store's place in the batch. */
  readonly place: number;
  readonly id: string;
  readonly tokens: number;
  readonly createdAtMs: number;
  readonly etag: string;
}

/** Outcome of a store with conditions: it made a memory, or a new version of one, or found it there. */
export type StoreOutcome = "CREATED" | "REPLACED" | "KEPT";

/** The port to the claims. Every adapter passes `test/contract/claims.ts`. */
export interface Claims {
  /** Adds a claim unless an unexpired one has its id; returns the claim that is valid then. */
  claim(claim: Claim): Promise<Claim>;
  /**
   * Gives a claim a new owner, if it still has the old one and no answer; true if it did. Given the
   * same owner twice, it proves that the claim is still held. `stored` stays as it is when left out.
   */
  takeOver(request: TakeOver): Promise<boolean>;
  /**
   * Keeps an owner's answer, and makes it the claim's owner, unless another answer was kept before; answers
   * whether this owner's answer is the valid one.
   */
  answer(request: { id: string; owner: string; answer: ClaimAnswer }): Promise<boolean>;
  /** Frees the key, if this owner still has it. */
  release(request: { id: string; owner: string }): Promise<void>;
}
