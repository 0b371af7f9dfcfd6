import type { Grant, Grants, StoredGrant } from "../accounts/oauth/grants.js";
import type { Pinned, SystemRecords } from "../memory/ports/model-version.js";
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

/** The models that a database was pinned to. */
export interface ModelsRecord {
  readonly id: string;
  /** Model version of the last one of the models. */
  readonly pinned: string;
  readonly models: readonly Pinned[];
}

const MODELS = "models";

export class StoredSystemRecords implements SystemRecords {
  constructor(private readonly records: Records<ModelsRecord>) {}

  async models(): Promise<readonly Pinned[]> {
    return (await this.records.find(MODELS))?.models ?? [];
  }

  async pin({ after, to }: Parameters<SystemRecords["pin"]>[0]): Promise<boolean> {
    const pinned = to.modelVersion;
    if (after === undefined) {
      const first = await this.records.findOrInsert({ id: MODELS, pinned, models: [to] });
      return first.models.at(-1)?.model.id === to.model.id;
    }
    // No model version is pinned twice, so these are the models that were read.
    const models = [...(await this.models()), to];
    return this.records.update({ id: MODELS, pinned: after }, { pinned, models });
  }
}
