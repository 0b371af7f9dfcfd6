import { type Account, type Accounts, KEYS_MAX, type KeyOf, SESSIONS_MAX } from "../accounts/account.js";
import { type Key, withSessions } from "../accounts/key.js";

type Request<M extends keyof Accounts> = Parameters<Accounts[M]>[0];

/** The changes of an account that are the same in each database, as functions of what the account is now. */
export abstract class AccountChanges {
  /**
   * Changes the plan, the calls or the living keys of an account in one atomic step, by a function that may decline, and
   * that may be called again if others change the account meanwhile. True if it changed.
   */
  protected abstract change(
    accountId: string,
    to: (account: Account) => Account | undefined,
  ): Promise<boolean>;

  setPlan({ accountId, plan, callsLimit }: Request<"setPlan">): Promise<boolean> {
    return this.change(accountId, (account) => {
      const callsLeft = account.callsLeft + (callsLimit - account.callsLimit);
      return { ...account, plan, callsLimit, callsLeft };
    });
  }

  addKey({ accountId, key }: Request<"addKey">): Promise<boolean> {
    return this.change(accountId, (account) => {
      return account.keys.length < KEYS_MAX ? { ...account, keys: [...account.keys, key] } : undefined;
    });
  }

  addSession({ session, ...of }: Request<"addSession">): Promise<boolean> {
    return this.#changeKey(of, (key) => {
      return { ...key, sessions: [...(key.sessions ?? []), session].slice(-SESSIONS_MAX) };
    });
  }

  removeSession({ accountId, sessionId }: Request<"removeSession">): Promise<boolean> {
    return this.change(accountId, (account) => {
      if (!account.keys.some(({ sessions }) => sessions?.some(({ id }) => id === sessionId)))
        return undefined;
      const keys = account.keys.map((key) => withSessions(key, ({ id }) => id !== sessionId));
      return { ...account, keys };
    });
  }

  removeKey({ accountId, keyId, force }: Request<"removeKey">): Promise<boolean> {
    return this.change(accountId, (account) => {
      const keys = account.keys.filter(({ id }) => id !== keyId);
      const removed = account.keys.find(({ id }) => id === keyId);
      const isLast =
        !force && removed?.client === undefined && keys.every(({ client }) => client !== undefined);
      return keys.length === account.keys.length || isLast ? undefined : { ...account, keys };
    });
  }

  async expireKey({ atMs, ...of }: Request<"expireKey">): Promise<void> {
    await this.#changeKey(of, (key) => ({ ...key, expiresAtMs: Math.min(key.expiresAtMs, atMs) }));
  }

  async settleKey(settled: KeyOf): Promise<void> {
    await this.#changeKey(settled, ({ replaces, graceMs, ...key }) => key);
  }

  #changeKey({ accountId, keyId }: KeyOf, to: (key: Key) => Key): Promise<boolean> {
    return this.change(accountId, (account) => {
      if (!account.keys.some(({ id }) => id === keyId)) return undefined;
      return { ...account, keys: account.keys.map((key) => (key.id === keyId ? to(key) : key)) };
    });
  }
}
