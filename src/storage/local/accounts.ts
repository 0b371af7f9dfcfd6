import type { Database, RootDatabase } from "lmdb";
import type { Account, Accounts } from "../../accounts/account.js";
import { MemoryError } from "../../errors.js";
import { durably, reading } from "./durably.js";

/** The accounts in LMDB, and beside them which account holds a key. */
export class LocalAccounts implements Accounts {
  readonly #accounts: Database<Account, string>;
  readonly #holders: Database<string, string>;

  constructor(root: RootDatabase) {
    this.#accounts = root.openDB("accounts", { encoding: "json" });
    this.#holders = root.openDB("keys", { encoding: "string" });
  }

  async create(account: Account): Promise<void> {
    await durably(this.#accounts, () => {
      if (this.#accounts.doesExist(account.id)) {
        throw new MemoryError("already_exists", `account ${account.id} exists already`);
      }
      this.#accounts.putSync(account.id, account);
      for (const key of account.keys) this.#holders.putSync(key, account.id);
    });
  }

  async findByKey(keyHash: string): Promise<Account | undefined> {
    return reading(() => {
      const id = this.#holders.get(keyHash);
      return id === undefined ? undefined : holding(this.#accounts.get(id), keyHash);
    });
  }

  async charge({ accountId, keyHash }: { accountId: string; keyHash: string }): Promise<boolean> {
    return durably(this.#accounts, () => {
      const account = holding(this.#accounts.get(accountId), keyHash);
      if (account === undefined || account.callsLeft < 1) return false;
      this.#accounts.putSync(accountId, { ...account, callsLeft: account.callsLeft - 1 });
      return true;
    });
  }

  async refund(accountId: string): Promise<void> {
    await durably(this.#accounts, () => {
      const account = this.#accounts.get(accountId);
      if (account === undefined || account.callsLeft >= account.callsLimit) return;
      this.#accounts.putSync(accountId, { ...account, callsLeft: account.callsLeft + 1 });
    });
  }
}

/** The account, if the key is among its living ones: that alone decides, not who held it once. */
function holding(account: Account | undefined, keyHash: string): Account | undefined {
  return account?.keys.includes(keyHash) ? account : undefined;
}
