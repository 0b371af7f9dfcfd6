import { MemoryError } from "../errors.js";
import type { Hit, Mark, Restored, VectorIndex, VectorRow } from "../memory/ports/vectors.js";
import { Flat } from "./flat.js";
import { Hnsw } from "./hnsw.js";
import { singlesOf } from "./single.js";
import { VECTORS_MAX } from "./snapshot/keys.js";
import type { Shelf } from "./snapshot/shelf.js";
import { hasSnapshot, type SnapshotOf } from "./snapshot/snapshot.js";

/** Share of removed places in a graph above which searches degrade and a new graph is built. */
const DEAD_SHARE_MAX = 0.3;

/** Number of rows moved to the graph at a time, so that other calls are served in between. */
const MOVE_ROWS = 256;

interface IndexOptions {
  readonly exactRowsMax: number;
  readonly shelf: Shelf;
}

/** The index of one log: a flat array while it is small, then a graph with snapshots. */
export class UsearchIndex implements VectorIndex {
  onSnapshotLost: () => void = () => {};
  #flat: Flat | undefined;
  #hnsw: Hnsw | undefined;
  #moving: Promise<void> | undefined;
  /** All threads that have started and not ended. */
  readonly #threads = new Set<Hnsw>();
  #closed = false;
  /** Outcome of the wipes under way in the snapshot. */
  #wiping: Promise<unknown> = Promise.resolve();
  #unwiped: unknown;
  readonly #tellLost = () => this.onSnapshotLost();

  constructor(
    private readonly of: SnapshotOf,
    private readonly options: IndexOptions,
  ) {
    this.#flat = new Flat(of.dimensions);
    options.shelf.onLost.set(of.logId, this.#tellLost);
  }

  get size(): number {
    return this.#flat?.size ?? this.#hnsw?.size ?? 0;
  }

  get fragmented(): boolean {
    const { rows, dead } = this.#hnsw ?? { rows: 0, dead: 0 };
    return dead > DEAD_SHARE_MAX * (rows + dead);
  }

  get large(): boolean {
    return this.#flat === undefined;
  }

  get bytes(): number {
    return (this.#flat?.bytes ?? 0) + (this.#hnsw?.bytes ?? 0);
  }

  get waiting(): number {
    return this.#hnsw?.waiting ?? 0;
  }

  async restore(): Promise<Restored | undefined> {
    if (!hasSnapshot(this.of)) return undefined;
    const { logId } = this.of;
    const hnsw = this.#start();
    const restored = await this.options.shelf.inTurn(logId, () => hnsw.restore()).catch(() => undefined);
    if (restored === undefined || this.#closed) {
      await this.#end(hnsw);
      // A vector in a file of an unknown form cannot be wiped, so the file is erased.
      if (!this.#closed) await this.options.shelf.erase(logId);
      return undefined;
    }
    this.#hnsw = hnsw;
    this.#flat = undefined;
    return restored;
  }

  async reset(): Promise<void> {
    if (this.#hnsw) await this.#end(this.#hnsw);
    this.#hnsw = undefined;
    this.#flat = new Flat(this.of.dimensions);
    await this.options.shelf.erase(this.of.logId);
  }

  async snapshot(mark: Mark): Promise<void> {
    if (this.#hnsw) await this.options.shelf.keep(this.of.logId, this.#hnsw.snapshot(mark));
  }

  fits(vectors: readonly Float32Array[]): boolean {
    const { dimensions } = this.of;
    const whole = vectors.every((vector) => vector.length === dimensions && vector.every(Number.isFinite));
    return whole && vectors.length > 0 && vectors.length <= VECTORS_MAX;
  }

  async add(rows: readonly VectorRow[]): Promise<void> {
    for (const { vectors } of rows) this.#check(vectors);
    const singles = singlesOf(rows);
    const linked = this.#hnsw?.add(singles);
    this.#flat?.add(singles);
    if (this.#flat && this.#flat.rows > this.options.exactRowsMax) this.#moving ??= this.#move(this.#flat);
    await Promise.all([linked, this.#moving]);
  }

  async remove(sequences: readonly number[]): Promise<void> {
    // Removing a row from the flat array moves another one, so it must wait until the rows are moved.
    await this.#moving;
    this.#flat?.remove(sequences);
    await this.#hnsw?.remove(sequences);
    this.#wipe(sequences);
  }

  async search(query: Parameters<VectorIndex["search"]>[0]): Promise<Hit[]> {
    this.#check([query.vector]);
    if (this.#flat) return this.#flat.search(query);
    return this.#hnsw ? this.#hnsw.search(query) : [];
  }

  async close(): Promise<void> {
    const { shelf } = this.options;
    this.#closed = true;
    await Promise.all([...this.#threads].map((hnsw) => this.#end(hnsw)));
    await this.#wiping;
    if (shelf.onLost.get(this.of.logId) === this.#tellLost) shelf.onLost.delete(this.of.logId);
    if (this.#unwiped !== undefined) throw this.#unwiped;
  }

  /**
   * Wipes vectors in the snapshot. Recalls do not wait for it, and a delete asks the shelf itself;
   * `close` reports a failure.
   */
  #wipe(sequences: readonly number[]): void {
    const wiping = this.options.shelf.wipe(this.of.logId, sequences).catch((error) => {
      this.#unwiped ??= error;
    });
    this.#wiping = Promise.all([this.#wiping, wiping]);
  }

  #start(): Hnsw {
    if (this.#closed) throw new Error("the index is closed");
    const hnsw = new Hnsw(this.of);
    this.#threads.add(hnsw);
    return hnsw;
  }

  async #end(hnsw: Hnsw): Promise<void> {
    await hnsw.close();
    this.#threads.delete(hnsw);
  }

  /** Builds the graph beside the flat array, which answers until the graph is complete. */
  async #move(flat: Flat): Promise<void> {
    const hnsw = this.#start();
    // From here on `add` gives new rows to both; only the flat array has the rows below.
    this.#hnsw = hnsw;
    const end = flat.rows;
    for (let from = 0; from < end; from += MOVE_ROWS) {
      await hnsw.add(flat.slice(from, Math.min(from + MOVE_ROWS, end)));
    }
    this.#flat = undefined;
  }

  /** Refuses vectors that are not finite: USearch would accept them, and then find them first. */
  #check(vectors: readonly Float32Array[]): void {
    if (this.fits(vectors)) return;
    throw new MemoryError("internal", `not finite vectors of ${this.of.dimensions} numbers`);
  }
}
