import type { Database, RootDatabase } from "lmdb";
import type { Claim, Claims, TakeOver } from "../../memory/ports/claims.js";
import { durably } from "./durably.js";

/** Number of expired claims that each new one removes: more than one, so that none pile up. */
const EXPIRED_MAX = 2;

export class LocalClaims implements Claims {
  readonly #claims: Database<Claim, string>;
  readonly #expiries: Database<true, [expiresAtMs: number, id: string]>;

  constructor(root: RootDatabase) {
    this.#claims = root.openDB("claims", { encoding: "json" });
    this.#expiries = root.openDB("claim-expiries", { encoding: "json" });
  }

  claim(claim: Claim): Promise<Claim> {
    return durably(this.#claims, () => {
      this.#removeExpired(claim.claimedAtMs);
      const existing = this.#claims.get(claim.id);
      if (existing !== undefined && existing.expiresAtMs > claim.claimedAtMs) return existing;
      if (existing !== undefined) this.#remove(existing);
      this.#claims.putSync(claim.id, claim);
      this.#expiries.putSync([claim.expiresAtMs, claim.id], true);
      return claim;
    });
  }

  takeOver({ id, from, to, ...changes }: TakeOver): Promise<boolean> {
    return durably(this.#claims, () => {
      const existing = this.#claims.get(id);
      if (existing?.owner !== from || existing.answer !== undefined) return false;
      this.#claims.putSync(id, { ...existing, owner: to, ...changes });
      return true;
    });
  }

  answer({ id, owner, answer }: Parameters<Claims["answer"]>[0]): Promise<boolean> {
    return durably(this.#claims, () => {
      const existing = this.#claims.get(id);
      if (existing?.answer !== undefined) return existing.owner === owner;
      if (existing !== undefined) this.#claims.putSync(id, { ...existing, owner, answer });
      return true;
    });
  }

  release({ id, owner }: Parameters<Claims["release"]>[0]): Promise<void> {
    return durably(this.#claims, () => {
      const existing = this.#claims.get(id);
      if (existing?.owner === owner) this.#remove(existing);
    });
  }

  #remove({ id, expiresAtMs }: Pick<Claim, "id" | "expiresAtMs">): void {
    this.#claims.removeSync(id);
    this.#expiries.removeSync([expiresAtMs, id]);
  }

  #removeExpired(nowMs: number): void {
    const expired = [...this.#expiries.getKeys({ end: [nowMs, ""], limit: EXPIRED_MAX })];
    for (const [expiresAtMs, id] of expired) this.#remove({ id, expiresAtMs });
  }
}
