import type { Database, RootDatabase } from "lmdb";
import type { Grant, Grants, StoredGrant } from "../../accounts/oauth/grants.js";
import { durably, reading } from "./durably.js";

/** Name of the record in which the secret is kept. No code's hash is so short. */
const SECRET = "secret";

/** Grants in LMDB. They live for an hour and are few, so the old ones are found by looking at all. */
export class LocalGrants implements Grants {
  readonly #grants: Database<StoredGrant, string>;
  readonly #secrets: Database<string, string>;

  constructor(root: RootDatabase) {
    this.#grants = root.openDB("grants", { encoding: "json" });
    this.#secrets = root.openDB("grant-secrets", { encoding: "json" });
  }

  secret(fresh: string): Promise<string> {
    return durably(this.#secrets, () => {
      const existing = this.#secrets.get(SECRET);
      if (existing === undefined) this.#secrets.putSync(SECRET, fresh);
      return existing ?? fresh;
    });
  }

  async add(grant: Grant): Promise<void> {
    await durably(this.#grants, () => {
      this.#removeIf(({ keptUntilMs }) => keptUntilMs <= Date.now());
      this.#grants.putSync(grant.codeHash, grant);
    });
  }

  async find(codeHash: string): Promise<StoredGrant | undefined> {
    return reading(() => this.#living(codeHash));
  }

  take({ codeHash, keyId }: Parameters<Grants["take"]>[0]): Promise<boolean> {
    return durably(this.#grants, () => {
      const grant = this.#living(codeHash);
      if (grant === undefined || grant.keyId !== undefined || grant.expiresAtMs <= Date.now()) return false;
      this.#grants.putSync(codeHash, { ...grant, keyId });
      return true;
    });
  }

  markReplayed(codeHash: string): Promise<StoredGrant | undefined> {
    return durably(this.#grants, () => {
      const grant = this.#living(codeHash);
      if (grant?.keyId === undefined) return grant;
      const marked = { ...grant, replayed: true };
      this.#grants.putSync(codeHash, marked);
      return marked;
    });
  }

  async removeOf(accountId: string): Promise<void> {
    await durably(this.#grants, () => this.#removeIf((grant) => grant.accountId === accountId));
  }

  #living(codeHash: string): StoredGrant | undefined {
    const grant = this.#grants.get(codeHash);
    return grant !== undefined && grant.keptUntilMs > Date.now() ? grant : undefined;
  }

  #removeIf(isOld: (grant: StoredGrant) => boolean): void {
    const old = [...this.#grants.getRange()].filter(({ value }) => isOld(value));
    for (const { key } of old) this.#grants.removeSync(key);
  }
}
