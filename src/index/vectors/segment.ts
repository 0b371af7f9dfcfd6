import type { Index } from "usearch";
import type { Among } from "../../memory/ports/among.js";
import type { Hit, Mark } from "../../memory/ports/index.js";
import type { CompactRows } from "./among/compact-rows.js";
import { type Matches, newGraph, release, view } from "./graph.js";
import { keyOf, parseKey, VECTORS_MAX } from "./snapshot/keys.js";
import { graphPath } from "./snapshot/manifest.js";
import { placesOf } from "./snapshot/slots.js";
import type { SnapshotOf, Written } from "./snapshot/snapshot.js";

/** Bytes of a vector in a file beside its numbers, and in memory for finding its place. */
const BYTES_PER_LINKED_ROW = 180;
/** Bytes of a compact vector's key and place: only searches among some memories need them. */
const BYTES_PER_SLOT = 12;

/**
 * A graph of consecutive memories in files that never change, except that removed vectors are overwritten
 * with zeros. It is searched where it lies, in the system's memory for files.
 */
export class Segment {
  readonly #graph: Index;
  /** Removed memories, which the graph still finds until their vectors are overwritten. */
  readonly #gone = new Set<number>();
  #goneVectors = 0;
  #compact: Promise<CompactRows> | undefined;
  #compactRows: CompactRows | undefined;

  /** Opens written files, which must be whole: `gone` are the memories that were removed since. */
  constructor(
    readonly ref: SnapshotOf,
    readonly files: Written,
    gone: Iterable<number>,
  ) {
    this.#graph = newGraph(ref.dimensions);
    view(this.#graph, graphPath(ref, files.stem));
    for (const sequence of gone) this.remove(sequence);
  }

  get mark(): Mark {
    return this.files.mark;
  }

  /** Removed memories that its files still list. */
  get gone(): ReadonlySet<number> {
    return this.#gone;
  }

  /** Number of memories that it finds. */
  get size(): number {
    return this.files.size - this.#gone.size;
  }

  /** Number of vectors that it finds. */
  get vectors(): number {
    return this.files.vectors - this.#goneVectors;
  }

  /** Number of its vectors that were removed since its files were written. */
  get removed(): number {
    return this.#goneVectors;
  }

  /** Share of its vectors that were removed. */
  get goneShare(): number {
    return this.#goneVectors / Math.max(1, this.files.vectors);
  }

  get bytes(): number {
    const { dimensions } = this.ref;
    const compact = this.#compact === undefined ? 0 : dimensions + BYTES_PER_SLOT;
    return this.files.vectors * (2 * dimensions + BYTES_PER_LINKED_ROW + compact);
  }

  /** Counts those of some memories that may be here. */
  countAmong(among: Among): number {
    return among.countBetween(this.files.after.sequence + 1, this.mark.sequence);
  }

  /** Lists those of some memories that may be here. */
  sequencesAmong(among: Among): Float64Array {
    return among.between(this.files.after.sequence + 1, this.mark.sequence);
  }

  /** Returns its vectors in compact form, which are read when they are needed first. */
  compactRows(read: () => Promise<CompactRows>): Promise<CompactRows> {
    this.#compact ??= this.#cacheCompact(read).catch((error: unknown) => {
      this.#compact = undefined;
      throw error;
    });
    return this.#compact;
  }

  /** Removes a memory; true if it was here. */
  remove(sequence: number): boolean {
    const { after, mark } = this.files;
    if (sequence <= after.sequence || sequence > mark.sequence || this.#gone.has(sequence)) return false;
    let vectors = 0;
    while (vectors < VECTORS_MAX && this.#graph.contains(keyOf(sequence, vectors))) vectors++;
    if (vectors === 0) return false;
    this.#gone.add(sequence);
    this.#goneVectors += vectors;
    if (this.#compactRows !== undefined) this.#overwrite(this.#compactRows, sequence);
    return true;
  }

  async #cacheCompact(read: () => Promise<CompactRows>): Promise<CompactRows> {
    const compact = await read();
    this.#compactRows = compact;
    for (const sequence of this.#gone) this.#overwrite(compact, sequence);
    return compact;
  }

  /** Overwrites a removed memory's vectors with zeros. */
  #overwrite({ keys, rows }: CompactRows, sequence: number): void {
    const { dimensions } = this.ref;
    for (const place of placesOf(keys, Float64Array.of(sequence))) {
      rows.fill(0, place * dimensions, (place + 1) * dimensions);
    }
  }

  /** Number of vectors to ask for to find `count`: removed ones may be among them for a while. */
  expansionFor(count: number): number {
    return Math.min(count + Math.min(this.#goneVectors, count), this.files.vectors);
  }

  /** Finds the vectors nearest to one by the graph. This holds the thread for about 5 microseconds each. */
  search(vector: Float32Array, expansion: number): Matches {
    return this.#graph.search(vector, expansion, 1);
  }

  /** Adds the first `count` that a search of it found to `hits`. */
  collect({ keys, distances }: Matches, count: number, hits: Hit[]): void {
    const end = hits.length + count;
    for (let i = 0; i < keys.length && hits.length < end; i++) {
      const { sequence, window } = parseKey(keys[i] as bigint);
      if (!this.#gone.has(sequence)) {
        hits.push({ sequence, window, similarity: 1 - (distances[i] as number) });
      }
    }
  }

  /** Gives its memory back, which would otherwise take a garbage collection. */
  close(): void {
    release(this.#graph);
  }
}
