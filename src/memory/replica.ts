import { setImmediate as nextTurn } from "node:timers/promises";
import { coalesce } from "./coalesce.js";
import type { Entry, Log, Numbered, Stored } from "./log.js";
import type { VectorIndex } from "./vectors.js";

/** Entries read at a time while catching up: few when probably current, more while far behind. */
const READ_FEW = 16;
const READ_MANY = 512;

/**
 * One process's view of one incarnation: an index that has applied the log up to a number. Many
 * processes may hold a replica each; what they share is the log alone.
 */
export class Replica {
  /** Brings this view up to all that was answered, by any process, before the call. */
  readonly current = coalesce(() => this.#catchUp());
  /** Told of every entry once it is applied here. */
  onApplied: (entry: Entry) => void = () => {};
  /** Calls that are using it now; one that is used is never closed. */
  users = 0;
  /** Its index failed: what it holds is in doubt, and a new replica must take its place. */
  broken = false;

  #applied = 0;
  readonly #log: Log;
  readonly #index: VectorIndex;

  constructor(
    readonly incarnation: string,
    { log, index }: { log: Log; index: VectorIndex },
  ) {
    this.#log = log;
    this.#index = index;
  }

  /** The number of the last entry applied. */
  get applied(): number {
    return this.#applied;
  }

  get bytes(): number {
    return this.#index.bytes;
  }

  /** The `limit` memories nearest to a vector, in no particular order; fewer when there are fewer. */
  async nearest({ vector, limit }: { vector: Float32Array; limit: number }): Promise<Numbered<Stored>[]> {
    const sequences = await this.#guard(this.#index.search({ vector, limit }));
    return this.#log.fetch({ incarnation: this.incarnation, sequences });
  }

  /**
   * Takes in entries of the log, in their order; those already applied are passed over. A search
   * begun after this call sees them; the promise says when the index has room for more.
   */
  async apply(entries: readonly Numbered[]): Promise<void> {
    const news = entries.filter(({ sequence }) => sequence > this.#applied);
    const first = news[0];
    if (first === undefined) return;
    if (first.sequence !== this.#applied + 1) throw new Error(`log gap before ${first.sequence}`);
    this.#applied += news.length;
    const rows = news.map(({ sequence, entry }) => ({ sequence, vector: entry.vector }));
    const indexed = this.#guard(this.#index.add(rows));
    for (const { entry } of news) this.onApplied(entry);
    await indexed;
  }

  close(): Promise<void> {
    return this.#index.close();
  }

  async #guard<T>(indexing: Promise<T>): Promise<T> {
    try {
      return await indexing;
    } catch (error) {
      this.broken = true;
      throw error;
    }
  }

  async #catchUp(): Promise<void> {
    for (let limit = READ_FEW; ; limit = READ_MANY) {
      const range = { incarnation: this.incarnation, from: this.#applied + 1, limit };
      const tail = await this.#log.read(range);
      await this.apply(tail);
      if (tail.length < limit) return;
      // A long log is taken in slices, so that other calls are served in between.
      await nextTurn();
    }
  }
}
