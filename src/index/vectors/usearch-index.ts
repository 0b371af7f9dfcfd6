import { MemoryError } from "../../errors.js";
import type { Among, Hit, RecallMeasured, RowCounts, VectorQuery } from "../../memory/ports/index.js";
import type { Found as FoundFile } from "../segment-file.js";
import type { VectorRow } from "./chunk.js";
import { CHECKED, compare, ExpansionTuner } from "./expansion-tuner.js";
import { GRAPH_ERROR } from "./graph.js";
import type { GraphSegment } from "./graph-segment.js";
import { type Found, searchFiltered, searchGraphs } from "./graphs.js";
import { EXACT_ERROR, nearestInTail } from "./nearest-in-tail.js";
import { Segments, type SegmentsOptions } from "./segments.js";
import { Tail } from "./tail.js";

/**
 * Number of vectors returned for each memory: the index's rounding may rank the nearest behind one or
 * two others.
 */
const HITS_PER_MEMORY = 4;

export interface IndexOptions extends SegmentsOptions {
  /** Maximum bytes of vectors that wait for sealing, before more have to wait. */
  readonly backlogBytesMax: number;
  /** Called when a served search was compared with an exact one. */
  readonly onChecked: (checked: RecallMeasured) => void;
}

interface Asked {
  readonly vector: Float32Array;
  /** Number of memories, and of vectors, to find. */
  readonly limit: number;
  readonly count: number;
  readonly among: Among | undefined;
}

/** The vectors of one log's memories, as the log's index uses them. */
export type VectorPart = Omit<UsearchIndex, "settled">;

/** The vectors of one log: sealed segments, each a graph in files, and an exact tail of the newest memories. */
export class UsearchIndex {
  readonly #tail: Tail;
  readonly #segments: Segments;
  readonly #tuner = new ExpansionTuner();
  #closed = false;

  constructor(private readonly options: IndexOptions) {
    this.#tail = new Tail(options.dimensions);
    this.#segments = new Segments(this.#tail, options);
  }

  get size(): number {
    return this.#tail.size + this.#segments.sum("size");
  }

  get bytes(): number {
    return this.#tail.bytes + this.#segments.sum("bytes");
  }

  get rowCounts(): RowCounts {
    const removed = this.#segments.sum("removed");
    return { tail: this.#tail.rows, removed, behind: this.#segments.behind };
  }

  get error(): number {
    return this.#segments.all.length > 0 ? GRAPH_ERROR : EXACT_ERROR;
  }

  get isExact(): boolean {
    return this.#segments.all.length === 0;
  }

  get waiting(): number {
    return this.options.thread.pending + this.options.reader.pending;
  }

  /**
   * Fills the empty index from those of its files that are whole and follow each other; returns the number of the last
   * entry that they cover.
   */
  restore(found: readonly FoundFile[]): Promise<number> {
    return this.#segments.restore(found);
  }

  reset(): Promise<void> {
    return this.#segments.reset();
  }

  fits(vectors: readonly Float32Array[]): boolean {
    return this.#tail.fits(vectors);
  }

  async add(rows: readonly VectorRow[]): Promise<void> {
    for (const { vectors } of rows) this.#check(vectors);
    for (const row of rows) this.#tail.add(row);
    this.#segments.sealIfDue();
    while (this.#isBehind && this.#segments.sealing !== undefined) await this.#segments.sealing;
    // The memories are here, but more would not fit into the process.
    if (this.#isBehind && this.#segments.failure !== undefined) throw this.#segments.failure;
  }

  async remove(sequences: readonly number[]): Promise<void> {
    this.#tail.remove(sequences);
    const removed = this.#segments.remove(sequences);
    this.#segments.sealIfDue();
    await removed;
  }

  /** A long memory has many vectors, which may fill the first places, so more are looked for until there are enough. */
  async search(query: VectorQuery): Promise<Hit[]> {
    const { vector, among } = query;
    this.#check([vector]);
    const vectors = this.#tail.rows + this.#segments.sum("vectors");
    const limit = Math.min(query.limit, this.size, among?.size ?? query.limit);
    if (limit === 0) return [];
    // Only a memory with several vectors can take the places of others.
    const isOneEach = this.isExact && vectors === this.size;
    const wanted =
      among === undefined
        ? { depthMax: Math.min(query.depthMax ?? vectors, vectors), spare: isOneEach ? 0 : query.spare }
        : { depthMax: vectors };
    const { depthMax, spare = limit * (HITS_PER_MEMORY - 1) } = wanted;
    // The vector is copied, because usearch reads from the start of its buffer, whatever its offset.
    const copy = vector.slice();
    for (let depth = limit + spare; ; depth *= 4) {
      const count = Math.min(depth, depthMax);
      const asked = { vector: copy, limit, count, among };
      const found = await this.#segments.reading((segments) => this.#nearest(segments, asked));
      const { hits, memories } = firstOf(found, limit);
      if (memories >= limit || found.all || count === depthMax) return hits;
    }
  }

  /** Waits until all that is due is sealed. */
  async settled(): Promise<void> {
    while (this.#segments.sealing !== undefined) await this.#segments.sealing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#segments.close();
  }

  get #isBehind(): boolean {
    return this.#tail.bytes > this.options.backlogBytesMax;
  }

  /**
   * Finds the `count` nearest vectors, or all. What is sealed meanwhile is found where it was. Each segment may have more
   * of the nearest than the others, so that of all that they find only the first `count` are without gaps.
   */
  async #nearest(segments: readonly GraphSegment[], asked: Asked): Promise<Found> {
    const { vector, count, limit, among } = asked;
    const { chunks } = this.#tail;
    const living = segments.filter((segment) => segment.vectors > 0);
    const expansion = this.#tuner.expansionIn(living.map((segment) => segment.vectors));
    const search = { vector, limit, count, expansion, segments: living };
    if (among !== undefined) {
      const tail = await nearestInTail(chunks, asked);
      const hits = await searchFiltered({ ...search, among, tail });
      return { hits: inOrder(hits).slice(0, count), all: hits.length < count };
    }
    const graphs = await searchGraphs(search);
    if (living.length > 0) this.#checkRecall(vector, living, graphs.hits);
    const all = graphs.all && chunks.reduce((sum, { rows }) => sum + rows, 0) <= count;
    const tail = await nearestInTail(chunks, asked);
    const hits = inOrder([...graphs.hits, ...tail]);
    return { hits: all ? hits : hits.slice(0, count), all };
  }

  /** Searches the segments again exactly, and compares, if that is due. No call waits for it. */
  #checkRecall(vector: Float32Array, segments: readonly GraphSegment[], hits: readonly Hit[]): void {
    const { background, onChecked, onTrouble } = this.options;
    const exactly = async () => {
      const nearest: Hit[] = [];
      for (const segment of segments) {
        const asked = { path: segment.path, dimensions: vector.length, vector, count: CHECKED };
        const matches = await background.call("searchExactly", asked).catch((error: unknown) => {
          if (this.#segments.all.includes(segment)) throw error;
        });
        // Its files were replaced meanwhile.
        if (matches === undefined) return undefined;
        segment.collect(matches, CHECKED, nearest);
      }
      return compare(nearest, hits);
    };
    this.#tuner.check(performance.now(), exactly).then((checked) => checked && onChecked(checked), onTrouble);
  }

  #check(vectors: readonly Float32Array[]): void {
    if (this.#closed) throw new Error("the index is closed");
    if (this.fits(vectors)) return;
    // USearch would accept numbers that are not finite, and then find them first.
    throw new MemoryError("internal", `not finite vectors of ${this.options.dimensions} numbers`);
  }
}

function inOrder(hits: Hit[]): Hit[] {
  return hits.sort((a, b) => b.similarity - a.similarity);
}

/** Takes the first `limit` memories, with a few vectors each. */
function firstOf({ hits: found }: Found, limit: number): { hits: Hit[]; memories: number } {
  const hits: Hit[] = [];
  const perMemory = new Map<number, number>();
  for (const hit of found) {
    const known = perMemory.get(hit.sequence) ?? 0;
    if (known === HITS_PER_MEMORY || (known === 0 && perMemory.size === limit)) continue;
    perMemory.set(hit.sequence, known + 1);
    hits.push(hit);
  }
  return { hits, memories: perMemory.size };
}
