/** A caller's idempotency key, bound to the one memory that its store makes. */
export interface Claim {
  /** Of account and key. */
  readonly id: string;
  /** SHA-256 of what was asked, in hex: another body under the same key is refused. */
  readonly requestHash: string;
  readonly memoryId: string;
  /** Who is at it: a process and one of its attempts. */
  readonly owner: string;
  /** When the owner took it up, by the wall clock. */
  readonly claimedAtMs: number;
  /** After this the key is free again, by the wall clock. */
  readonly expiresAtMs: number;
  /** What was answered, once it was. */
  readonly answer?: ClaimAnswer;
}

export interface ClaimAnswer {
  readonly tokens: number;
  readonly createdAtMs: number;
}

/** The port to where claims are kept. Every adapter passes `test/contract/claims.ts`. */
export interface Claims {
  /** Keeps a claim if there is none with its id, or only an expired one; answers the one that stands. */
  claim(claim: Claim): Promise<Claim>;
  /**
   * Gives a claim a new owner, if it still has the old one and no answer; answers whether it did. With the
   * same owner it proves that the claim is still held.
   */
  takeOver(of: { id: string; from: string; to: string; claimedAtMs: number }): Promise<boolean>;
  /**
   * Keeps what an owner answered, who has the claim from then on, unless another's answer was kept before;
   * answers whether this owner's stands.
   */
  answer(of: { id: string; owner: string; answer: ClaimAnswer }): Promise<boolean>;
  /** Frees the key, if this owner still has it. */
  release(of: { id: string; owner: string }): Promise<void>;
}
