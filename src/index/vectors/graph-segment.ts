import type { Index } from "usearch";
import type { Hit } from "../../memory/ports/index.js";
import { Bits } from "../rows/bits.js";
import {
  type AnySegment,
  type GraphLayout,
  graphPath,
  type Overwriting,
  type Range,
} from "../segment-file.js";
import { EXPANSION_HERE_MAX } from "./expansion-tuner.js";
import { type Matches, newGraph, release, view } from "./graph.js";
import type { IndexThreads } from "./index-thread.js";
import { parseKey, positionsOf, removeFrom, type SegmentArrays } from "./keys.js";

/** Bytes of a vector in a graph's file beside its numbers, and in memory for finding its position. */
const BYTES_PER_LINKED_ROW = 180;

/** Share of removed vectors above which a graph is built anew, because its gaps would stay. */
const GONE_SHARE_MAX = 0.3;

/** Vectors that were found, the nearest first. */
type Collected = Pick<Matches, "distances"> & { readonly keys: ArrayLike<number | bigint> };

/**
 * A graph of consecutive memories in files that never change, except that removed vectors are overwritten
 * with zeros. It is searched where it lies, in the system's memory for files.
 */
export class GraphSegment implements AnySegment {
  readonly part = "vectors";
  /** Path of the graph's file. */
  readonly path: string;
  readonly #index: Index;
  /** Removed memories, which the graph still finds until their vectors are overwritten. */
  readonly gone = new Set<number>();
  /** Number of memories that it finds. */
  size = 0;
  /** Number of its vectors that were removed since its files were written. */
  removed = 0;
  /** True if matches of a filter were compared in it: more may follow. */
  isScanned = false;
  #compact: Promise<Int8Array> | undefined;
  #compactRead: Int8Array | undefined;

  /** Opens files, which must be whole; the path is without their endings. */
  constructor(
    path: string,
    readonly range: Range,
    readonly graph: GraphLayout,
    readonly arrays: SegmentArrays,
    private readonly threads: Pick<IndexThreads, "thread" | "reader">,
  ) {
    this.path = graphPath(path);
    const live = new Bits(arrays.keys.length, arrays.live);
    this.#index = newGraph(graph.dimensions);
    view(this.#index, this.path);
    for (const [position, key] of arrays.keys.entries()) {
      const { sequence, window } = parseKey(key);
      if (live.has(position)) {
        if (window === 0) this.size++;
        continue;
      }
      this.gone.add(sequence);
      this.removed++;
    }
  }

  /** Number of vectors in its files, removed ones included. */
  get rows(): number {
    return this.arrays.keys.length;
  }

  /** Number of vectors that it finds. */
  get vectors(): number {
    return this.rows - this.removed;
  }

  /** True if so many of its vectors were removed that it is to be built anew; then it may be empty, but keeps its range. */
  get isGappy(): boolean {
    return this.removed > GONE_SHARE_MAX * this.rows;
  }

  /** True if its vectors are in memory in a byte for each dimension, or soon are. */
  get isCompact(): boolean {
    return this.#compact !== undefined;
  }

  get bytes(): number {
    const arrays = Object.values(this.arrays).reduce((sum, { byteLength }) => sum + byteLength, 0);
    return this.rows * (2 * this.graph.dimensions + BYTES_PER_LINKED_ROW) + arrays + this.copiedBytes;
  }

  get copiedBytes(): number {
    return this.isCompact ? this.rows * this.graph.dimensions : 0;
  }

  /** Returns its vectors in a byte for each dimension, in the order of their keys; they are read when needed first. */
  compactRows(): Promise<Int8Array> {
    this.#compact ??= this.#readCompact().catch((error: unknown) => {
      this.#compact = undefined;
      throw error;
    });
    return this.#compact;
  }

  /** Its vectors in a byte for each dimension; undefined while they are read, which this begins. */
  get compactNow(): Int8Array | undefined {
    // Whoever needs them learns of a failure to read them.
    if (this.#compactRead === undefined) this.compactRows().catch(() => {});
    return this.#compactRead;
  }

  /** Gives the memory of its vectors in a byte for each dimension back; the next search that needs them reads them again. */
  releaseCompact(): void {
    this.isScanned = false;
    this.#compact = undefined;
    this.#compactRead = undefined;
  }

  /** Removes a memory, and notes what is to be overwritten in its files; false if it does not live here. */
  remove(sequence: number, overwriting: Overwriting): boolean {
    const { after, upto } = this.range;
    if (sequence <= after || sequence > upto || this.gone.has(sequence)) return false;
    const positions = removeFrom(this.arrays, sequence, overwriting);
    if (positions.length === 0) return false;
    this.gone.add(sequence);
    this.removed += positions.length;
    this.size--;
    if (this.#compactRead !== undefined) this.#overwrite(this.#compactRead, sequence);
    return true;
  }

  /** Lists its memories that were removed since it had these living vectors. */
  removedSince(lived: Uint32Array): number[] {
    const { keys } = this.arrays;
    const had = new Bits(keys.length, lived);
    return [...this.gone].filter((sequence) => {
      return positionsOf(keys, Float64Array.of(sequence)).some((position) => had.has(position));
    });
  }

  async #readCompact(): Promise<Int8Array> {
    const { path, graph, arrays } = this;
    const asked = { path, dimensions: graph.dimensions, slots: arrays.slots };
    const rows = await this.threads.reader.call("compact", asked);
    for (const sequence of this.gone) this.#overwrite(rows, sequence);
    if (this.isCompact) this.#compactRead = rows;
    return rows;
  }

  /** Overwrites a removed memory's vectors with zeros. */
  #overwrite(rows: Int8Array, sequence: number): void {
    const { dimensions } = this.graph;
    for (const position of positionsOf(this.arrays.keys, Float64Array.of(sequence))) {
      rows.fill(0, position * dimensions, (position + 1) * dimensions);
    }
  }

  /**
   * Numbers of vectors to ask for to find `count`, the second if the first finds too few. Removed ones may be among
   * them: as zeros they are nearer than all that points away from the query.
   */
  expansionsFor(count: number): number[] {
    const { removed, rows } = this;
    return [Math.min(removed, count), removed].map((more) => Math.min(count + more, rows));
  }

  /** Finds the vectors nearest to one by the graph. This holds the thread for about 5 microseconds each. */
  async search(vector: Float32Array, expansion: number): Promise<Matches> {
    if (expansion <= EXPANSION_HERE_MAX) return this.#index.search(vector, expansion, 1);
    const { dimensions } = this.graph;
    return this.threads.thread.call("search", { path: this.path, dimensions, vector, count: expansion });
  }

  /** Adds the first `count` that a search of it found to `hits`. */
  collect({ keys, distances }: Collected, count: number, hits: Hit[]): void {
    const end = hits.length + count;
    for (let i = 0; i < keys.length && hits.length < end; i++) {
      const { sequence, window } = parseKey(Number(keys[i]));
      if (!this.gone.has(sequence)) {
        hits.push({ sequence, window, similarity: 1 - (distances[i] as number) });
      }
    }
  }

  /** Gives its memory back, which would otherwise take a garbage collection. */
  close(): void {
    release(this.#index);
  }
}
