/** The port to whoever counts calls. */
export interface Quota {
  /**
   * Takes one call from the caller's plan, which also proves that the key still lives.
   *
   * @throws MemoryError `unauthenticated` when the key was revoked, `resource_exhausted` when the plan is used up.
   */
  charge(caller: Caller): Promise<void>;
  /** For calls that cost nothing: proves that the key still lives. @throws MemoryError `unauthenticated`. */
  verify(caller: Caller): Promise<void>;
  /**
   * Gives one call back, because it failed. Never throws, and never tries twice: a call that stays
   * paid in a fault of the database is better than one given back twice.
   */
  refund(caller: Caller): Promise<void>;
  /** Counts a call that succeeded, for the account's usage. */
  count(caller: Caller, call: Counted): void;
}

/** A call that succeeded, and the tokens of its text or query. */
export interface Counted {
  readonly call: "store" | "recall";
  readonly tokens: number;
}

/** Who asks, as the gate found out. */
export interface Caller {
  readonly accountId: string;
  /** SHA-256 of the key, in hex. */
  readonly keyHash: string;
  /** What the key may do. */
  readonly access: "full" | "read_only";
  /** The only namespace it may touch. */
  readonly namespace?: string;
}
