import type { Key } from "./key.js";

/** Keys an account may have at once. */
export const KEYS_MAX = 50;

/** An account with its keys and what is left of its plan. */
export interface Account {
  /** `acc_…` */
  readonly id: string;
  /** As given at sign-up; never verified. */
  readonly email: string;
  /** A plan's name; the operator may have taken the plan away since. */
  readonly plan: string;
  readonly callsLimit: number;
  readonly callsLeft: number;
  /** The living ones, the oldest first. */
  readonly keys: readonly Key[];
  readonly createdAtMs: number;
}

/** A key of an account, by its id. */
export interface KeyOf {
  readonly accountId: string;
  readonly keyId: string;
}

/** When a key was used. */
export interface KeyUse {
  readonly accountId: string;
  readonly keyHash: string;
  readonly atMs: number;
}

/**
 * The port to where accounts are kept. Every adapter passes `test/contract/accounts.ts` and
 * `test/contract/keys.ts`. A key whose `expiresAtMs` has passed is as good as none.
 *
 * All methods throw MemoryError `unavailable` when the database cannot answer.
 */
export interface Accounts {
  /** Keeps a new account; it survives a crash once this is answered. */
  create(account: Account): Promise<void>;
  /** The account with this id, and its living keys. */
  find(accountId: string): Promise<Account | undefined>;
  /** The accounts in the order of their ids, which is that of their making, after the one given. */
  list(of: { after: string; limit: number }): Promise<Account[]>;
  /** The account that holds this key. */
  findByKey(keyHash: string): Promise<Account | undefined>;
  /**
   * In one atomic step: if the account holds the key and has a call left, takes one. Answers whether
   * it did, once that survives a crash.
   */
  charge(of: { accountId: string; keyHash: string }): Promise<boolean>;
  /** Gives one call back, never above the limit. */
  refund(accountId: string): Promise<void>;
  /**
   * In one atomic step: another plan with another limit, and what was used stays used, so that fewer
   * than no calls may be left. Answers whether there is such an account.
   */
  setPlan(of: { accountId: string; plan: string; callsLimit: number }): Promise<boolean>;
  /** In one atomic step: adds a key, unless the account has KEYS_MAX; answers whether it did. */
  addKey(of: { accountId: string; key: Key }): Promise<boolean>;
  /**
   * In one atomic step: takes a key away, but the last one only with `force`. Answers whether it did;
   * from then on the key is refused everywhere.
   */
  removeKey(of: KeyOf & { force: boolean }): Promise<boolean>;
  /** Lets a key end at a time, or leaves it as it is when it ends before. */
  expireKey(of: KeyOf & { atMs: number }): Promise<void>;
  /** A key replaces no other any more. */
  settleKey(of: KeyOf): Promise<void>;
  /** Keeps when keys were last used; keys that are gone are passed over. */
  touch(uses: readonly KeyUse[]): Promise<void>;
  /** Takes the account away, keys and all; what stays is that it was closed. */
  remove(accountId: string): Promise<void>;
  /** Whether there was an account with this id, and it was removed. One that is only missing was not. */
  isClosed(accountId: string): Promise<boolean>;
}
