import type { Key } from "./key.js";

export const KEYS_MAX = 50;
/** Maximum number of living sessions of a key; one more ends the oldest. */
export const SESSIONS_MAX = 20;

/** An account with its keys and what is left of its plan. */
export interface Account {
  /** `acc_…` */
  readonly id: string;
  /** The address given at sign-up; it is never verified. */
  readonly email: string;
  /** The name of a plan, which the operator may have removed since. */
  readonly plan: string;
  readonly callsLimit: number;
  readonly callsLeft: number;
  /** The living keys, oldest first. */
  readonly keys: readonly Key[];
  readonly createdAtMs: number;
}

export interface KeyOf {
  readonly accountId: string;
  readonly keyId: string;
}

/**
 * The port to the accounts. Every adapter passes `test/contract/accounts.ts`, `test/contract/keys.ts` and
 * `test/contract/sessions.ts`. All methods treat a key or a session whose `expiresAtMs` has passed as missing,
 * and with a key all its sessions. Where a method takes a `keyHash`, it may be that of a session.
 *
 * All methods throw MemoryError `unavailable` when the database cannot answer.
 */
export interface Accounts {
  create(account: Account): Promise<void>;
  find(accountId: string): Promise<Account | undefined>;
  /** Lists accounts in the order of their ids, which is the order of creation, after the given id. */
  list(request: { after: string; limit: number }): Promise<Account[]>;
  /** Finds the account that holds a key or a session. */
  findByKey(keyHash: string): Promise<Account | undefined>;
  /**
   * Takes calls, one by default, in one atomic step, if the account holds the key and has as many left.
   * True if it did. Every later reading shows it. A crash may undo the charges of the last moments, but
   * none that was taken before an entry that the log of the same storage has kept since.
   */
  charge(request: { accountId: string; keyHash: string; calls?: number | undefined }): Promise<boolean>;
  /** Gives calls back, one by default, never above the limit. */
  refund(accountId: string, calls?: number): Promise<void>;
  /**
   * Changes the plan, the calls or the living keys of an account in one atomic step, by a function that may decline, and
   * that may be called again if others change the account meanwhile. True if it changed; from then on every replica
   * refuses what was removed.
   */
  change(accountId: string, to: (account: Account) => Account | undefined): Promise<boolean>;
  /** Removes an account and its keys, and records that it was closed. */
  remove(accountId: string): Promise<void>;
  /** True if an account with this id was removed. An account that never existed was not. */
  isClosed(accountId: string): Promise<boolean>;
}
