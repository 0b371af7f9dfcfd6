import type { Grant, Grants, StoredGrant } from "../accounts/oauth/grants.js";
import type { Claim, Claims, TakeOver } from "../memory/ports/claims.js";
import type { Erasure, Erasures, LostErasure } from "../memory/ports/erasures.js";

/** Fields of records; undefined stands for none. */
export type Where<R> = { readonly [F in keyof R]?: R[F] | undefined };

/** Records of one kind by their ids, as a database keeps them. Each method is one atomic step. */
export interface Records<R extends { readonly id: string }> {
  find(id: string): Promise<R | undefined>;
  /** Finds the record with an id, unless it has expired by a time, or inserts one. */
  findOrInsert(record: R, nowMs?: number): Promise<R>;
  /** Sets fields of a record, if it has others as stated; true if it did. */
  update(where: Where<R> & Pick<R, "id">, set: Partial<R>): Promise<boolean>;
  /** Removes the record with an id, or all, if they have other fields as stated. */
  remove(where: Where<R>): Promise<void>;
  /** Lists records by id, from behind the given one on. */
  list(range: { limit: number; after?: string | undefined }): Promise<(R | { id: string; lost: true })[]>;
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
  /** @param secret finds the secret that is kept, or keeps the given one */
  constructor(
    private readonly grants: Records<GrantRecord>,
    readonly secret: Grants["secret"],
  ) {}

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
