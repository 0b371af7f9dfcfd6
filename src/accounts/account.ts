/** An account with its keys and what is left of its plan. */
export interface Account {
  /** `acc_…` */
  readonly id: string;
  /** As given at sign-up; never verified. */
  readonly email: string;
  readonly plan: "free";
  readonly callsLimit: number;
  readonly callsLeft: number;
  /** SHA-256 of each living key, in hex. */
  readonly keys: readonly string[];
  readonly createdAtMs: number;
}

/**
 * The port to where accounts are kept. Every adapter passes `test/contract/accounts.ts`.
 *
 * All methods throw MemoryError `unavailable` when the database cannot answer.
 */
export interface Accounts {
  /** Keeps a new account; it survives a crash once this is answered. */
  create(account: Account): Promise<void>;
  /** The account that holds this key. */
  findByKey(keyHash: string): Promise<Account | undefined>;
  /**
   * In one atomic step: if the account holds the key and has a call left, takes one. Answers whether
   * it did, once that survives a crash.
   */
  charge(of: { accountId: string; keyHash: string }): Promise<boolean>;
  /** Gives one call back, never above the limit. */
  refund(accountId: string): Promise<void>;
}
