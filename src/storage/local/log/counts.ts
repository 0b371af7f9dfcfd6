import type { Database, RootDatabase } from "lmdb";
import type { Measured } from "../../../memory/ports/log.js";

/**
 * Counts what each log holds, in the same transaction as the log. Every write must run in a transaction.
 */
export class Counts {
  readonly #counts: Database<[memories: number, bytes: number], string>;

  constructor(root: RootDatabase) {
    this.#counts = root.openDB("counts", { encoding: "json" });
  }

  get(logId: string): Measured {
    const [memories, bytes] = this.#counts.get(logId) ?? [0, 0];
    return { memories, bytes };
  }

  change(logId: string, by: Measured): void {
    const { memories, bytes } = this.get(logId);
    this.#counts.putSync(logId, [memories + by.memories, bytes + by.bytes]);
  }
}
