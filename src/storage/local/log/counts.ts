import type { Database, RootDatabase } from "lmdb";
import type { Measured } from "../../../memory/ports/log.js";

/**
 * How much each log holds, changed in the same transaction as the log. Logs of before this was kept have
 * none; neither has one whose entries were not all counted. Whatever writes, runs in a transaction.
 */
export class Counts {
  /** Missing in a file of before that is opened for reading only. */
  readonly #counts: Database<[memories: number, bytes: number], string> | undefined;

  constructor(root: RootDatabase) {
    this.#counts = root.openDB("counts", { encoding: "json" });
  }

  get(logId: string): Measured | undefined {
    const kept = this.#counts?.get(logId);
    return kept && { memories: kept[0], bytes: kept[1] };
  }

  /** From here on everything is counted: to be called before the first entry is written. */
  begin(logId: string): void {
    this.#counts?.putSync(logId, [0, 0]);
  }

  change(logId: string, by: Measured): void {
    const kept = this.#counts?.get(logId);
    if (kept !== undefined) this.#counts?.putSync(logId, [kept[0] + by.memories, kept[1] + by.bytes]);
  }
}
