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
  /** The index was asked for its snapshot, or is not to be. */
  #asked = false;
  /** What the index was filled from, until the log was found to be the one it was made of. */
  #unchecked: Restored | undefined;
  /** Memories that the snapshot has no vectors of, and whose tombstones were not read yet. */
  readonly #unconfirmed = new Set<number>();

  constructor(private readonly options: RestorationOptions) {}

  /** The snapshot is still to be read, or to be compared with the log. */
  get pending(): boolean {
    return !this.#asked || this.#unchecked !== undefined;
  }

  /** Leaves the snapshot unread: the index is built from the log alone. */
  skip(): void {
    this.#asked = true;
  }

  /** Reads the snapshot; answers where it ends, or undefined when there is none of this log. */
  async begin(): Promise<Mark | undefined> {
    const { logId, log, index, steps = untimed } = this.options;
    // Only once: a catch-up that failed behind it goes on with what is restored.
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

  /** Takes in a tombstone; answers whether the snapshot lacks its memory already. */
  confirm(target: number): boolean {
    return this.#unconfirmed.delete(target);
  }

  /**
   * Answers, at the end of the log, whether it has a tombstone for each memory that the snapshot lacks. It has
   * not when the database is an older copy of itself: then the index is emptied, to be built from the log.
   */
  async end(): Promise<boolean> {
    if (this.#unconfirmed.size === 0) return true;
    await this.options.index.reset();
    this.#unconfirmed.clear();
    return false;
  }
}
