import type { Database, RootDatabase } from "lmdb";
import type { Erasure, Erasures } from "../../memory/ports/erasures.js";
import { durably, reading } from "./durably.js";

export class LocalErasures implements Erasures {
  readonly #erasures: Database<Erasure, string>;

  constructor(root: RootDatabase) {
    this.#erasures = root.openDB("erasures", { encoding: "json" });
  }

  begin(erasure: Erasure): Promise<void> {
    return durably(this.#erasures, () => {
      // An erasure that is begun again keeps its first record: several processes may meet the same end
      // of a log.
      if (!this.#erasures.doesExist(erasure.id)) {
        this.#erasures.putSync(erasure.id, erasure);
      }
    });
  }

  end(id: string): Promise<void> {
    return durably(this.#erasures, () => void this.#erasures.removeSync(id));
  }

  async pending(limit: number): Promise<Erasure[]> {
    return reading(() => [...this.#erasures.getRange({ limit })].map(({ value }) => value));
  }
}
