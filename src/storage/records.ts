import type { Grant, Grants, StoredGrant } from "../accounts/oauth/grants.js";
import type { Records } from "../memory/ports/records.js";

/** A grant whose id is the hash of its code. */
export type GrantRecord = Omit<StoredGrant, "codeHash"> & { readonly id: string };

export class StoredGrants implements Grants {
  constructor(
    private readonly grants: Records<GrantRecord>,
    private readonly secrets: Records<{ readonly id: string; readonly secret: string }>,
  ) {}

  async secret(fresh: string): Promise<string> {
    return (await this.secrets.findOrInsert({ id: "clients", secret: fresh })).secret;
  }

  async add({ codeHash, ...grant }: Grant): Promise<void> {
    await this.grants.findOrInsert({ id: codeHash, ...grant }, Date.now());
  }

  async find(codeHash: string): Promise<StoredGrant | undefined> {
    const found = await this.grants.find(codeHash);
    if (found === undefined || found.keptUntilMs <= Date.now()) return undefined;
    const { id, ...grant } = found;
    return { ...grant, codeHash };
  }

  async take({ codeHash, keyId }: Parameters<Grants["take"]>[0]): Promise<boolean> {
    const grant = await this.find(codeHash);
    if (grant === undefined || grant.expiresAtMs <= Date.now()) return false;
    return this.grants.update({ id: codeHash, keyId: undefined }, { keyId });
  }

  async markReplayed(codeHash: string): Promise<StoredGrant | undefined> {
    const grant = await this.find(codeHash);
    if (grant?.keyId === undefined) return grant;
    await this.grants.update({ id: codeHash }, { replayed: true });
    return { ...grant, replayed: true };
  }

  removeOf(accountId: string): Promise<void> {
    return this.grants.remove({ accountId });
  }
}
