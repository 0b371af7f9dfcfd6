import type { Log } from "../ports/log.js";
import { type SharedStep, type Steps, untimed } from "../ports/steps.js";
import type { Mark, Restored, VectorIndex } from "../ports/vectors.js";

export interface RestorationOptions {
  readonly logId: string;
  readonly log: Pick<Log, "read">;
  readonly index: Pick<VectorIndex, "restore" | "reset">;
  readonly steps?: Steps<SharedStep> | undefined;
}

/** Fills an index from its snapshot, and trusts the snapshot only as far as the log confirms it. */
export class Restoration {
  /** True once the snapshot was read, or is to be left unread. */
  #asked = false;
  /** The restored snapshot, until it is compared with the log. */
  #unchecked: Restored | undefined;
  /** Memories that the snapshot lacks, and whose tombstones were not read yet. */
  readonly #unconfirmed = new Set<number>();

  constructor(private readonly options: RestorationOptions) {}

  /** True if the snapshot still has to be read, or to be compared with the log. */
  get pending(): boolean {
    return !this.#asked || this.#unchecked !== undefined;
  }

  /** Leaves the snapshot unread: the index is built from the log alone. */
  skip(): void {
    this.#asked = true;
  }

  /** Reads the snapshot; answers the position where it ends, or undefined if this log has none. */
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

  /** Applies a tombstone; answers whether the snapshot lacks its memory already. */
  confirm(target: number): boolean {
    return this.#unconfirmed.delete(target);
  }

  /**
   * Answers, at the end of the log, whether the log has a tombstone for each memory that the snapshot lacks.
   * Otherwise the database is an older copy of itself: the index is emptied, and must be built from the log.
   */
  async end(): Promise<boolean> {
    if (this.#unconfirmed.size === 0) return true;
    await this.options.index.reset();
    this.#unconfirmed.clear();
    return false;
  }
}
