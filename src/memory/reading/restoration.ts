import type { Log } from "../ports/log.js";
import { type SharedStep, type Steps, untimed } from "../ports/steps.js";
import type { Mark, Restored, VectorIndex } from "../ports/vectors.js";

export interface RestorationOptions {
  readonly logId: string;
  readonly log: Pick<Log, "read" | "fetch">;
  readonly index: Pick<VectorIndex, "restore" | "reset">;
  readonly steps?: Steps<SharedStep> | undefined;
}

/** Fills an index from its files, and trusts them only as far as the log confirms them. */
export class Restoration {
  /** True once the files were read. */
  #asked = false;
  /** Position and gaps of the files, until they are compared with the log. */
  #unchecked: Restored | undefined;
  /** Memories that were removed from the files, and whose tombstones were not read yet. */
  readonly #unconfirmed = new Set<number>();

  constructor(private readonly options: RestorationOptions) {}

  /** True if the files still have to be read, or to be compared with the log. */
  get pending(): boolean {
    return !this.#asked || this.#unchecked !== undefined;
  }

  /** Reads the files; answers the position where they end, or undefined if this log has none. */
  async begin(): Promise<Mark | undefined> {
    const { logId, log, index, steps = untimed } = this.options;
    // Only once: after a failed read of the log, the catch-up continues with the restored index.
    if (!this.#asked) this.#unchecked = await steps.time("restore", () => index.restore());
    this.#asked = true;
    const kept = this.#unchecked;
    if (kept === undefined) return undefined;
    const [at] = (await log.read({ logId, from: kept.sequence, limit: 1, what: "head" })).entries;
    const isOurs = at?.sequence === kept.sequence && at.entry.opId === kept.opId;
    if (!isOurs) await index.reset();
    this.#unchecked = undefined;
    if (!isOurs) return undefined;
    for (const sequence of kept.wiped) this.#unconfirmed.add(sequence);
    return kept;
  }

  /** Applies a tombstone; answers whether the files lack its memory already. */
  confirm(target: number): boolean {
    return this.#unconfirmed.delete(target);
  }

  /**
   * Answers, at the end of the log, whether the memories that were removed from the files are gone from the
   * log too: their tombstones were read, or came before the position of the files, and they are erased.
   * Otherwise the database is an older copy of itself: the index is emptied, and must be built from the log.
   */
  async end(): Promise<boolean> {
    const { logId, log, index } = this.options;
    for (let rest = [...this.#unconfirmed]; rest.length > 0; ) {
      const fetched = await log.fetch({ logId, sequences: rest, what: "head" });
      rest = [...fetched.rest];
      if (fetched.found.length === 0) continue;
      await index.reset();
      this.#unconfirmed.clear();
      return false;
    }
    this.#unconfirmed.clear();
    return true;
  }
}
