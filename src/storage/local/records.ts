import type { Database, RootDatabase } from "lmdb";
import type { Claim, Claims, TakeOver } from "../../memory/ports/claims.js";
import type { Erasure, Erasures, LostErasure } from "../../memory/ports/erasures.js";
import type { Pinned, SystemRecords } from "../../memory/ports/model-version.js";
import type { Recent, Scope } from "../../memory/ports/names.js";
import { durably, reading } from "./durably.js";

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

export class LocalErasures implements Erasures {
  constructor(private readonly erasures: Database<Erasure, string>) {}

  begin(erasure: Erasure): Promise<void> {
    return durably(this.erasures, () => {
      // An erasure that is begun again keeps its first record: several processes may meet the same end
      // of a log.
      if (!this.erasures.doesExist(erasure.id)) {
        this.erasures.putSync(erasure.id, erasure);
      }
    });
  }

  end(id: string): Promise<void> {
    return durably(this.erasures, () => void this.erasures.removeSync(id));
  }

  async pending(limit: number, after?: string): Promise<(Erasure | LostErasure)[]> {
    const range = { limit, ...(after !== undefined && { start: after, exclusiveStart: true }) };
    return reading(() => [...this.erasures.getKeys(range)].flatMap((id) => this.#read(id) ?? []));
  }

  /** Reads one record by itself, so that a damaged one does not hide the others. */
  #read(id: string): Erasure | LostErasure | undefined {
    try {
      return this.erasures.get(id);
    } catch (error) {
      // It is not JSON.
      if (error instanceof SyntaxError) return { id, lost: true };
      throw error;
    }
  }
}

export class LocalRecent implements Recent {
  constructor(private readonly usedMs: Database<number, [accountId: string, namespace: string]>) {}

  touch({ accountId, namespace }: Scope, atMs: number): Promise<void> {
    return durably(this.usedMs, () => void this.usedMs.putSync([accountId, namespace], atMs));
  }

  async list(limit: number): Promise<Scope[]> {
    const all = reading(() => [...this.usedMs.getRange()]);
    return all
      .sort((a, b) => b.value - a.value)
      .slice(0, limit)
      .map(({ key: [accountId, namespace] }) => ({ accountId, namespace }));
  }

  forget({ accountId, namespace }: Scope): Promise<void> {
    return durably(this.usedMs, () => void this.usedMs.removeSync([accountId, namespace]));
  }
}

/** Records about the whole database, by name. */
export type Meta = Database<unknown, string>;

export class LocalSystemRecords implements SystemRecords {
  constructor(private readonly meta: Meta) {}

  async models(): Promise<readonly Pinned[]> {
    return reading(() => this.#models());
  }

  pin({ after, to }: Parameters<SystemRecords["pin"]>[0]): Promise<boolean> {
    return durably(this.meta, () => {
      const models = this.#models();
      if (models.at(-1)?.modelVersion !== after) return false;
      this.meta.putSync("models", [...models, to]);
      return true;
    });
  }

  #models(): readonly Pinned[] {
    return (this.meta.get("models") as readonly Pinned[] | undefined) ?? [];
  }
}
