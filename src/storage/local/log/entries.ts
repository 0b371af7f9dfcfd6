import type { Database, RootDatabase } from "lmdb";
import type { Entry, Projection } from "../../../memory/ports/log.js";
import { lost } from "../../intact.js";
import { durably, reading } from "../durably.js";
import { decode } from "./record.js";

export type Key = [logId: string, sequence: number];

/** The entries of all logs, and the appends that are not on the disk yet. */
export class Entries {
  readonly db: Database<Buffer, Key>;
  /** Latest append to each log that is not on the disk yet. */
  readonly #appending = new Map<string, Promise<number>>();

  constructor(root: RootDatabase) {
    this.db = root.openDB("log", { encoding: "binary" });
  }

  /** Returns the entry with this number, or a placeholder if it is missing and later ones exist. */
  get<W extends Projection>(key: Key, what: W): Entry<W> | undefined {
    // The buffer is the database's own, and its next read overwrites it; decoding copies what it keeps.
    const record = this.db.getBinaryFast(key);
    if (record !== undefined) return decode(record.subarray(0, record.length), what);
    return this.#isBeforeOthers(key) ? lost("it is missing") : undefined;
  }

  /** Appends to a log in a transaction; `settled` waits for it. */
  async append(logId: string, insert: () => number): Promise<number> {
    const appending = durably(this.db, insert);
    this.#appending.set(logId, appending);
    try {
      return await appending;
    } finally {
      if (this.#appending.get(logId) === appending) this.#appending.delete(logId);
    }
  }

  /** Waits until the disk has what was read: a committed entry is visible before it is on the disk. */
  async settled<T>(logId: string, read: () => T): Promise<T> {
    const found = reading(read);
    await this.#appending.get(logId);
    return found;
  }

  #isBeforeOthers([logId, sequence]: Key): boolean {
    const end: Key = [logId, Number.MAX_SAFE_INTEGER];
    return this.db.getKeysCount({ start: [logId, sequence], end, limit: 1 }) > 0;
  }
}
