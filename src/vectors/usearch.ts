import { MemoryError } from "../errors.js";
import type { Hit, Mark, VectorIndex, VectorRow, Vectors } from "../memory/vectors.js";
import { Flat } from "./flat.js";
import { Hnsw } from "./hnsw.js";
import { VECTORS_MAX } from "./keys.js";
import { singlesOf } from "./single.js";
import { eraseSnapshot, findSnapshot, hasSnapshot, type SnapshotOf, snapshotsIn } from "./snapshot.js";

/**
 * Up to here every search is exact. Measured: an exact scan of 20,000 × 384 takes 1 ms, a search of
 * the graph 0.4 ms at any size.
 */
const EXACT_ROWS_MAX = 20_000;

/** Of a graph's places; beyond it searching suffers, and a new graph is built. */
const DEAD_SHARE_MAX = 0.3;

/** Rows moved to the graph at a time, so that other calls are served in between. */
const MOVE_ROWS = 256;

export interface UsearchOptions {
  /** Of the vectors of an incarnation; undefined when its model is not known, and it cannot be opened. */
  dimensionsOf(incarnation: string): number | undefined;
  /** Where snapshots of graphs are kept, and what all of them may take: those of use least recently go first. */
  readonly snapshotsDir: string;
  readonly snapshotBytesMax?: number;
  readonly exactRowsMax?: number;
}

/** Vector indexes by USearch: exact while small, a graph (HNSW) beyond. */
export function openUsearch({
  dimensionsOf,
  snapshotsDir,
  snapshotBytesMax = Number.MAX_SAFE_INTEGER,
  exactRowsMax = EXACT_ROWS_MAX,
}: UsearchOptions): Vectors {
  const snapshotOf = (incarnation: string) => {
    return {
      folder: snapshotsDir,
      folderBytesMax: snapshotBytesMax,
      incarnation,
      dimensions: dimensionsOf(incarnation) ?? 0,
    };
  };
  return {
    open: (incarnation) => new UsearchIndex(snapshotOf(incarnation), exactRowsMax),
    discard: async (incarnation) => eraseSnapshot(snapshotOf(incarnation)),
    kept: async () => snapshotsIn(snapshotsDir),
    markOf: async (incarnation) => findSnapshot(snapshotOf(incarnation))?.manifest.mark,
  };
}

class UsearchIndex implements VectorIndex {
  #flat: Flat | undefined;
  #hnsw: Hnsw | undefined;
  #moving: Promise<void> | undefined;

  constructor(
    private readonly of: SnapshotOf,
    private readonly exactRowsMax: number,
  ) {
    this.#flat = new Flat(of.dimensions);
  }

  get size(): number {
    return this.#flat?.size ?? this.#hnsw?.size ?? 0;
  }

  get worn(): boolean {
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

  async restore(): Promise<Mark | undefined> {
    if (!hasSnapshot(this.of)) return undefined;
    const hnsw = new Hnsw(this.of);
    const mark = await hnsw.restore().catch(() => undefined);
    if (mark === undefined) {
      await hnsw.close();
      return undefined;
    }
    this.#hnsw = hnsw;
    this.#flat = undefined;
    return mark;
  }

  async reset(): Promise<void> {
    await this.#hnsw?.close();
    this.#hnsw = undefined;
    this.#flat = new Flat(this.of.dimensions);
    eraseSnapshot(this.of);
  }

  async snapshot(mark: Mark): Promise<void> {
    await this.#hnsw?.snapshot(mark);
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
    if (this.#flat && this.#flat.rows > this.exactRowsMax) this.#moving ??= this.#move(this.#flat);
    await Promise.all([linked, this.#moving]);
  }

  async remove(sequences: readonly number[]): Promise<void> {
    // A row taken out of the flat array moves another: not while they are being counted off.
    await this.#moving;
    this.#flat?.remove(sequences);
    await this.#hnsw?.remove(sequences);
  }

  async search(query: Parameters<VectorIndex["search"]>[0]): Promise<Hit[]> {
    this.#check([query.vector]);
    if (this.#flat) return this.#flat.search(query);
    return this.#hnsw ? this.#hnsw.search(query) : [];
  }

  async close(): Promise<void> {
    await this.#hnsw?.close();
  }

  /** Builds the graph beside the flat array, which answers until the graph holds all of it. */
  async #move(flat: Flat): Promise<void> {
    const hnsw = new Hnsw(this.of);
    // From here on `add` gives new rows to both; these are the ones that only `flat` has.
    this.#hnsw = hnsw;
    const end = flat.rows;
    for (let from = 0; from < end; from += MOVE_ROWS) {
      await hnsw.add(flat.slice(from, Math.min(from + MOVE_ROWS, end)));
    }
    this.#flat = undefined;
  }

  /** USearch takes vectors that are not finite, and then finds them first: never let one in. */
  #check(vectors: readonly Float32Array[]): void {
    if (this.fits(vectors)) return;
    throw new MemoryError("internal", `not finite vectors of ${this.of.dimensions} numbers`);
  }
}
