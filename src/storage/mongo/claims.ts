import type { Collection, Db } from "mongodb";
import type { Claim, Claims, TakeOver } from "../../memory/ports/claims.js";
import { findOrInsert } from "./find-or-insert.js";
import { withTimeout } from "./with-timeout.js";

interface ClaimRecord extends Omit<Claim, "id" | "expiresAtMs"> {
  readonly _id: string;
  /** Expiry as a Date, so that MongoDB removes the document by itself. */
  readonly expiresAt: Date;
}

export class MongoClaims implements Claims {
  readonly #claims: Collection<ClaimRecord>;

  constructor(db: Db) {
    this.#claims = db.collection("claims");
  }

  async claim({ id, expiresAtMs, ...claim }: Claim): Promise<Claim> {
    // MongoDB takes up to a minute to remove expired claims.
    await withTimeout(this.#claims.deleteOne({ _id: id, expiresAt: { $lte: new Date(claim.claimedAtMs) } }));
    const existing = await withTimeout(
      findOrInsert(this.#claims, { _id: id, ...claim, expiresAt: new Date(expiresAtMs) }),
    );
    const { _id, expiresAt, ...rest } = existing;
    return { id: _id, expiresAtMs: expiresAt.getTime(), ...rest };
  }

  async takeOver({ id, from, to, ...changes }: TakeOver): Promise<boolean> {
    const existing = { _id: id, owner: from, answer: { $exists: false } };
    const taken = this.#claims.updateOne(existing, { $set: { owner: to, ...changes } });
    return (await withTimeout(taken)).matchedCount === 1;
  }

  async answer({ id, owner, answer }: Parameters<Claims["answer"]>[0]): Promise<boolean> {
    const unanswered = { _id: id, answer: { $exists: false } };
    const written = await withTimeout(this.#claims.updateOne(unanswered, { $set: { owner, answer } }));
    if (written.matchedCount === 1) return true;
    const existing = await withTimeout(this.#claims.findOne({ _id: id }, { projection: { owner: 1 } }));
    // A claim that has expired meanwhile has no other answer either.
    return existing === null || existing.owner === owner;
  }

  async release({ id, owner }: Parameters<Claims["release"]>[0]): Promise<void> {
    await withTimeout(this.#claims.deleteOne({ _id: id, owner }));
  }
}
