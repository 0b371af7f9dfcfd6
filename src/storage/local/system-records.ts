import type { Database } from "lmdb";
import type { ModelIdentity } from "../../memory/ports/embedder.js";
import type { Facts, Pinned, Versioned } from "../../memory/ports/plan.js";
import { fromModelRecord, type ModelRecord, toModelRecord } from "../model-record.js";
import { durably, reading } from "./durably.js";

/** Facts of the whole database, by name. */
export type Meta = Database<unknown, string>;

export class LocalFacts implements Facts {
  constructor(private readonly meta: Meta) {}

  pinModel(model: ModelIdentity): Promise<Pinned> {
    return durably(this.meta, () => {
      const pinned = this.#model();
      if (pinned === undefined) this.meta.putSync("model", toModelRecord({ model, edition: "" }));
      return pinned ?? { model, edition: "" };
    });
  }

  async pinned(): Promise<Pinned | undefined> {
    return reading(() => this.#model());
  }

  async repin({ from, to }: Parameters<Facts["repin"]>[0]): Promise<void> {
    await durably(this.meta, () => {
      if (this.#model()?.edition === from) this.meta.putSync("model", toModelRecord(to));
    });
  }

  async plan(): Promise<Versioned | undefined> {
    return reading(() => this.#plan());
  }

  replacePlan({ from, to: plan }: Parameters<Facts["replacePlan"]>[0]): Promise<boolean> {
    return durably(this.meta, () => {
      if ((this.#plan()?.version ?? 0) !== from) return false;
      // What is left of a plan is its version, so that none comes again.
      const { version = 0 } = this.#kept() ?? {};
      this.meta.putSync("plan", { ...(plan && { plan }), version: version + 1 });
      return true;
    });
  }

  #model(): Pinned | undefined {
    return fromModelRecord(this.meta.get("model") as ModelRecord | undefined);
  }

  #plan(): Versioned | undefined {
    const { plan, version = 0 } = this.#kept() ?? {};
    return plan && { plan, version };
  }

  #kept(): Partial<Versioned> | undefined {
    return this.meta.get("plan") as Partial<Versioned> | undefined;
  }
}
