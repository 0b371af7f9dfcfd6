import type { Grant, Grants, StoredGrant } from "../accounts/oauth/grants.js";
import type { Claim, Claims, TakeOver } from "../memory/ports/claims.js";
import type { Erasure, Erasures, LostErasure } from "../memory/ports/erasures.js";
import type { Pinned, SystemRecords } from "../memory/ports/model-version.js";

/** Fields of records; undefined stands for none. */
export type Where<R> = { readonly [F in keyof R]?: R[F] | undefined };

/** A damaged record. */
export interface Lost {
  readonly id: string;
  readonly lost: true;
}

/** Records of one kind by their ids, as a database keeps them. Each method is one atomic step. */
export interface Records<R extends { readonly id: string }> {
  find(id: string): Promise<R | undefined>;
  /** Finds the record that has a value in the field that has an index. */
  findBy(field: keyof R & string, value: string): Promise<R | undefined>;
  /** Finds the record with an id, unless it has expired by a time, or inserts one. What it returns survives a crash. */
  findOrInsert(record: R, nowMs?: number): Promise<R>;
  /** Sets fields of a record, if it has others as stated; true if it did. */
  update(where: Where<R> & Pick<R, "id">, set: Partial<R>): Promise<boolean>;
  /** Removes the record with an id, or all, if they have other fields as stated. */
  remove(where: Where<R>): Promise<void>;
  /** Lists records in the order of their ids' bytes, from behind one on: all, or those whose ids begin with `prefix`. */
  list(range: {
    limit: number;
    after?: string | undefined;
    prefix?: string | undefined;
  }): Promise<(R | Lost)[]>;
  /** Lists the records with the greatest numbers in a field, the greatest first. */
  greatest(field: keyof R & string, limit: number): Promise<R[]>;
}

export class StoredClaims implements Claims {
  constructor(private readonly claims: Records<Claim>) {}

  claim(claim: Claim): Promise<Claim> {
    return this.claims.findOrInsert(claim, claim.claimedAtMs);
  }

  takeOver({ id, from, to, ...changes }: TakeOver): Promise<boolean> {
    return this.claims.update({ id, owner: from, answer: undefined }, { owner: to, ...changes });
  }

  async answer({ id, owner, answer }: Parameters<Claims["answer"]>[0]): Promise<boolean> {
    if (await this.claims.update({ id, answer: undefined }, { owner, answer })) return true;
    const existing = await this.claims.find(id);
    // A claim that has expired meanwhile has no other answer either.
    return existing === undefined || existing.owner === owner;
  }

  release({ id, owner }: Parameters<Claims["release"]>[0]): Promise<void> {
    return this.claims.remove({ id, owner });
  }
}

export class StoredErasures implements Erasures {
  constructor(private readonly erasures: Records<Erasure>) {}

  async begin(erasure: Erasure): Promise<void> {
    // One that is begun again keeps its first record: several processes may meet the same end of a log.
    await this.erasures.findOrInsert(erasure);
  }

  end(id: string): Promise<void> {
    return this.erasures.remove({ id });
  }

  pending(limit: number, after?: string): Promise<(Erasure | LostErasure)[]> {
    return this.erasures.list({ limit, after });
  }
}

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
