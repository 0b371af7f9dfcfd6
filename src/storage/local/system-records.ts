import type { Database } from "lmdb";
import type { Pinned, SystemRecords } from "../../memory/ports/system-records.js";
import { durably, reading } from "./durably.js";

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
