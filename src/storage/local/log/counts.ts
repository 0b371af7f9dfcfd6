import type { Database, RootDatabase } from "lmdb";
import type { Measured } from "../../../memory/ports/log.js";

/**
 * Counts what each log holds, in the same transaction as the log. Logs from before these counts have
 * none, and neither has a log whose entries were not all counted. Every write must run in a transaction.
 */
export class Counts {
  /** The counts; missing in an older file that is opened for reading only. */
  readonly #counts: Database<[memories: number, bytes: number], string> | undefined;

  constructor(root: RootDatabase) {
    this.#counts = root.openDB("counts", { encoding: "json" });
  }

  get(logId: string): Measured | undefined {
    const kept = this.#counts?.get(logId);
    return kept && { memories: kept[0], bytes: kept[1] };
  }

  /** Begins to count a log; must be called before its first entry is written. */
  begin(logId: string): void {
    this.#counts?.putSync(logId, [0, 0]);
  }

  change(logId: string, by: Measured): void {
    const kept = this.#counts?.get(logId);
    if (kept !== undefined) this.#counts?.putSync(logId, [kept[0] + by.memories, kept[1] + by.bytes]);
  }
}
