import type { Database, RootDatabase } from "lmdb";
import type { Account, Accounts } from "../../accounts/account.js";
import { answersTo, livingKeys } from "../../accounts/key.js";
import { MemoryError } from "../../errors.js";
import { type ChargedAccount, Charges } from "./charges.js";
import { durably, reading } from "./durably.js";

export class LocalAccounts implements Accounts {
  /** The charges that are not written yet. */
  readonly charges: Charges;
  readonly #accounts: Database<ChargedAccount, string>;
  readonly #accountsByKey: Database<string, string>;
  /** Time at which an account was closed, by its id. */
  readonly #closed: Database<number, string>;

  constructor(root: RootDatabase) {
    this.#accounts = root.openDB("accounts", { encoding: "json" });
    this.#accountsByKey = root.openDB("keys", { encoding: "string" });
    this.#closed = root.openDB("closed-accounts", { encoding: "json" });
    this.charges = new Charges(this.#accounts);
  }

  async create(account: Account): Promise<void> {
    await durably(this.#accounts, () => {
      if (this.#accounts.doesExist(account.id)) {
        throw new MemoryError("already_exists", `account ${account.id} exists already`);
      }
      this.#put(account);
    });
  }

  async find(accountId: string): Promise<Account | undefined> {
    return reading(() => this.#find(accountId));
  }

  async list({ after, limit }: Parameters<Accounts["list"]>[0]): Promise<Account[]> {
    const range = { start: after, exclusiveStart: true, limit };
    return reading(() => [...this.#accounts.getRange(range)].map(({ value }) => this.#current(value)));
  }

  async findByKey(keyHash: string): Promise<Account | undefined> {
    return reading(() => {
      const id = this.#accountsByKey.get(keyHash);
      const account = id === undefined ? undefined : this.#find(id);
      // The index alone does not decide.
      return account !== undefined && holds(account, keyHash) ? account : undefined;
    });
  }

  async charge({ accountId, keyHash, calls = 1 }: Parameters<Accounts["charge"]>[0]): Promise<boolean> {
    if (this.charges.isBacklogged) await this.charges.write();
    // No other call runs between this read of what is left and the charge, so this is exact.
    const stored = reading(() => this.#accounts.get(accountId));
    if (stored === undefined || !holds(stored, keyHash)) return false;
    if (stored.callsLeft - this.charges.unwrittenOf(stored) < calls) return false;
    this.charges.add(stored, calls);
    return true;
  }

  async refund(accountId: string, calls = 1): Promise<void> {
    const stored = reading(() => this.#accounts.get(accountId));
    if (stored === undefined) return;
    const refunded = Math.min(calls, stored.callsLimit - this.#current(stored).callsLeft);
    if (refunded > 0) this.charges.add(stored, -refunded);
  }

  async remove(accountId: string): Promise<void> {
    await durably(this.#accounts, () => {
      const account = this.#accounts.get(accountId);
      for (const hash of hashesOf(account)) this.#accountsByKey.removeSync(hash);
      if (account !== undefined) this.#closed.putSync(accountId, Date.now());
      this.#accounts.removeSync(accountId);
    });
  }

  async isClosed(accountId: string): Promise<boolean> {
    return reading(() => this.#closed.doesExist(accountId) && !this.#accounts.doesExist(accountId));
  }

  change(accountId: string, to: (account: Account) => Account | undefined): Promise<boolean> {
    return durably(this.#accounts, () => {
      const account = this.#living(accountId);
      const changed = account && to(account);
      if (changed !== undefined) this.#put(changed);
      return changed !== undefined;
    });
  }

  #find(accountId: string): Account | undefined {
    const stored = this.#accounts.get(accountId);
    return stored && this.#current(stored);
  }

  #current(stored: ChargedAccount): Account {
    const { group, ...account } = withLivingKeys(stored);
    return { ...account, callsLeft: account.callsLeft - this.charges.unwrittenOf(stored) };
  }

  /** Finds an account as it is written. */
  #living(accountId: string): ChargedAccount | undefined {
    const account = this.#accounts.get(accountId);
    return account && withLivingKeys(account);
  }

  /** Writes an account, and removes keys and sessions that it no longer has from the index. */
  #put(account: Account): void {
    const hashes = new Set(hashesOf(account));
    for (const hash of hashesOf(this.#accounts.get(account.id)))
      if (!hashes.delete(hash)) this.#accountsByKey.removeSync(hash);
    for (const hash of hashes) this.#accountsByKey.putSync(hash, account.id);
    this.#accounts.putSync(account.id, account);
  }
}

function hashesOf(account: Account | undefined): string[] {
  const keys = account?.keys ?? [];
  return keys.flatMap(({ hash, sessions = [] }) => [hash, ...sessions.map((session) => session.hash)]);
}

/** True if the key or the session is among the account's living ones. */
function holds({ keys }: Account, keyHash: string): boolean {
  // Only the one that is asked for is checked for expiry: every charge comes here.
  const found = keys.find((key) => answersTo(key, keyHash));
  return found !== undefined && livingKeys([found]).some((key) => answersTo(key, keyHash));
}

function withLivingKeys<T extends Account>(account: T): T {
  return { ...account, keys: livingKeys(account.keys) };
}
