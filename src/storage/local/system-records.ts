import type { Database } from "lmdb";
import type { ModelIdentity } from "../../memory/ports/embedder.js";
import type { Pinned, SystemRecords, Versioned } from "../../memory/ports/plan.js";
import {
  fromModelRecord,
  fromPlanRecord,
  type ModelRecord,
  type PlanRecord,
  toModelRecord,
  toPlanRecord,
} from "../model-record.js";
import { durably, reading } from "./durably.js";

/** Records about the whole database, by name. */
export type Meta = Database<unknown, string>;

/** Version of a plan that has ended; nothing else of it is kept. */
interface PlanMark {
  readonly plan?: PlanRecord;
  readonly version?: number;
}

/** Records about the whole database, in LMDB. */
export class LocalSystemRecords implements SystemRecords {
  constructor(private readonly meta: Meta) {}

  pinModel(model: ModelIdentity): Promise<Pinned> {
    return durably(this.meta, () => {
      const pinned = this.#model();
      if (pinned === undefined) this.meta.putSync("model", toModelRecord({ model, generation: "" }));
      return pinned ?? { model, generation: "" };
    });
  }

  async pinned(): Promise<Pinned | undefined> {
    return reading(() => this.#model());
  }

  async repin({ from, to }: Parameters<SystemRecords["repin"]>[0]): Promise<void> {
    await durably(this.meta, () => {
      if (this.#model()?.generation === from) this.meta.putSync("model", toModelRecord(to));
    });
  }

  async plan(): Promise<Versioned | undefined> {
    return reading(() => this.#plan());
  }

  replacePlan({ from, to: plan }: Parameters<SystemRecords["replacePlan"]>[0]): Promise<boolean> {
    return durably(this.meta, () => {
      if ((this.#plan()?.version ?? 0) !== from) return false;
      // The version of an ended plan is kept, so that no plan gets the same one again.
      const { version = 0 } = this.#kept() ?? {};
      this.meta.putSync("plan", { ...(plan && { plan: toPlanRecord(plan) }), version: version + 1 });
      return true;
    });
  }

  #model(): Pinned | undefined {
    return fromModelRecord(this.meta.get("model") as ModelRecord | undefined);
  }

  #plan(): Versioned | undefined {
    const { plan, version = 0 } = this.#kept() ?? {};
    return plan && { plan: fromPlanRecord(plan), version };
  }

  #kept(): PlanMark | undefined {
    return this.meta.get("plan") as PlanMark | undefined;
  }
}
