/** The port to the quota of calls. */
export interface Quota {
  /**
   * Takes calls from the caller's plan, one by default, which also proves that the key (and the session) still lives. It takes
   * all of them or none.
   *
   * @throws MemoryError `unauthenticated` if the key was revoked, `resource_exhausted` if the plan has fewer
   * left.
   */
  charge(caller: Caller, calls?: number): Promise<void>;
  /** Proves that the key still lives, for calls that cost nothing. @throws MemoryError `unauthenticated`. */
  verify(caller: Caller): Promise<void>;
  /**
   * Refunds calls that failed, one by default. Never throws, and never tries twice: after a fault of the
   * database, a call that stays charged is better than one refunded twice.
   */
  refund(caller: Caller, calls?: number): Promise<void>;
  /** Counts a successful call, for the account's usage. */
  count(caller: Caller, call: Counted): void;
}

/** A successful call, its namespace, and the tokens of its text or query. */
export interface Counted {
  readonly namespace: string;
  readonly call: "store" | "recall";
  readonly tokens: number;
}

/** The caller, as the authentication interceptor found it. */
export interface Caller {
  readonly accountId: string;
  /** SHA-256 of the key, in hex. */
  readonly keyHash: string;
  /** Hash of the session's secret, if a browser's session stands for the key. */
  readonly sessionHash?: string;
  /** Permissions of the key. */
  readonly access: "full" | "read_only";
  /** The only namespace that it may access. */
  readonly namespace?: string;
}
