import type { Collection } from "mongodb";
import type { Claim, Claims, TakeOver } from "../../memory/ports/claims.js";
import type { Erasure, Erasures } from "../../memory/ports/erasures.js";
import type { Pinned, SystemRecords } from "../../memory/ports/model-version.js";
import type { Recent, Scope } from "../../memory/ports/names.js";
import { findOrInsert, withTimeout } from "./driver.js";
import { nameId, scopeIn } from "./ids.js";

interface ClaimRecord extends Omit<Claim, "id" | "expiresAtMs"> {
  readonly _id: string;
  /** Expiry as a Date, so that MongoDB removes the document by itself. */
  readonly expiresAt: Date;
}

export class MongoClaims implements Claims {
  constructor(private readonly claims: Collection<ClaimRecord>) {}

  async claim({ id, expiresAtMs, ...claim }: Claim): Promise<Claim> {
    // MongoDB takes up to a minute to remove expired claims.
    await withTimeout(this.claims.deleteOne({ _id: id, expiresAt: { $lte: new Date(claim.claimedAtMs) } }));
    const existing = await withTimeout(
      findOrInsert(this.claims, { _id: id, ...claim, expiresAt: new Date(expiresAtMs) }),
    );
    const { _id, expiresAt, ...rest } = existing;
    return { id: _id, expiresAtMs: expiresAt.getTime(), ...rest };
  }

  async takeOver({ id, from, to, ...changes }: TakeOver): Promise<boolean> {
    const existing = { _id: id, owner: from, answer: { $exists: false } };
    const taken = this.claims.updateOne(existing, { $set: { owner: to, ...changes } });
    return (await withTimeout(taken)).matchedCount === 1;
  }

  async answer({ id, owner, answer }: Parameters<Claims["answer"]>[0]): Promise<boolean> {
    const unanswered = { _id: id, answer: { $exists: false } };
    const written = await withTimeout(this.claims.updateOne(unanswered, { $set: { owner, answer } }));
    if (written.matchedCount === 1) return true;
    const existing = await withTimeout(this.claims.findOne({ _id: id }, { projection: { owner: 1 } }));
    // A claim that has expired meanwhile has no other answer either.
    return existing === null || existing.owner === owner;
  }

  async release({ id, owner }: Parameters<Claims["release"]>[0]): Promise<void> {
    await withTimeout(this.claims.deleteOne({ _id: id, owner }));
  }
}

type ErasureDocument = Omit<Erasure, "id"> & { readonly _id: string };

export class MongoErasures implements Erasures {
  constructor(private readonly erasures: Collection<ErasureDocument>) {}

  async begin({ id, ...erasure }: Erasure): Promise<void> {
    // An erasure that is begun again keeps its first record: several processes may meet the same end of
    // a log.
    await withTimeout(findOrInsert(this.erasures, { _id: id, ...erasure }));
  }

  async end(id: string): Promise<void> {
    await withTimeout(this.erasures.deleteOne({ _id: id }));
  }

  async pending(limit: number, after = ""): Promise<Erasure[]> {
    const behind = { _id: { $gt: after } };
    const records = await withTimeout(this.erasures.find(behind, { sort: { _id: 1 }, limit }).toArray());
    return records.map(({ _id, ...erasure }) => ({ id: _id, ...erasure }));
  }
}

interface RecentRecord {
  /** Id as `nameId` makes it. */
  readonly _id: string;
  readonly usedAtMs: number;
}

export class MongoRecent implements Recent {
  constructor(private readonly recent: Collection<RecentRecord>) {}

  async touch(scope: Scope, atMs: number): Promise<void> {
    const used = { $set: { usedAtMs: atMs } };
    await withTimeout(this.recent.updateOne({ _id: nameId(scope) }, used, { upsert: true }));
  }

  async list(limit: number): Promise<Scope[]> {
    const records = await withTimeout(this.recent.find({}, { sort: { usedAtMs: -1 }, limit }).toArray());
    return records.map(({ _id }) => scopeIn(_id));
  }

  async forget(scope: Scope): Promise<void> {
    await withTimeout(this.recent.deleteOne({ _id: nameId(scope) }));
  }
}

interface MetaRecord {
  readonly _id: string;
  /** Model version of the last one of the models. */
  readonly pinned?: string;
  readonly models?: readonly Pinned[];
}

export class MongoSystemRecords implements SystemRecords {
  constructor(private readonly meta: Collection<MetaRecord>) {}

  async models(): Promise<readonly Pinned[]> {
    return (await withTimeout(this.meta.findOne({ _id: "models" })))?.models ?? [];
  }

  async pin({ after, to }: Parameters<SystemRecords["pin"]>[0]): Promise<boolean> {
    if (after === undefined) {
      const first = { _id: "models", pinned: to.modelVersion, models: [to] };
      return (await withTimeout(findOrInsert(this.meta, first))).models?.at(-1)?.model.id === to.model.id;
    }
    const models = [...(await this.models()), to];
    // No model version is pinned twice, so these are the models that were read.
    const pinning = this.meta.updateOne(
      { _id: "models", pinned: after },
      { $set: { pinned: to.modelVersion, models } },
    );
    return (await withTimeout(pinning)).matchedCount === 1;
  }
}
