import type { Hit, RecallMeasured, RowCounts, VectorQuery } from "../../memory/ports/index.js";
import type { Found as FoundFile } from "../segment-file.js";
import type { RestoredFiles } from "../text-index.js";
import { AmongSearch } from "./among/among-search.js";
import { type Found, searchDistinct } from "./distinct.js";
import { CHECKED, compare, EXPANSION_HERE_MAX, ExpansionTuner } from "./expansion-tuner.js";
import { GRAPH_ERROR, type Matches } from "./graph.js";
import { searchGraphs } from "./graphs.js";
import type { IndexThread } from "./index-thread.js";
import { EXACT_ERROR, nearestInTail } from "./nearest-in-tail.js";
import type { VectorPart, VectorRow } from "./part.js";
import type { Segment } from "./segment.js";
import { Segments, type SegmentsOptions } from "./segments.js";
import { Tail } from "./tail.js";

export interface IndexOptions extends SegmentsOptions {
  /** Maximum bytes of vectors that wait for sealing, before more have to wait. */
  readonly backlogBytesMax: number;
  /** Thread that lets all others go first: it checks what searches find. */
  readonly background: IndexThread;
  readonly onChecked: (checked: RecallMeasured) => void;
}

/** The index of one log: sealed segments, each a graph in files, and an exact tail of the newest memories. */
export class UsearchIndex implements VectorPart {
  readonly #tail: Tail;
  readonly #segments: Segments;
  readonly #tuner = new ExpansionTuner();
  #closed = false;
  #waiting = 0;
  readonly #among: AmongSearch;

  constructor(private readonly options: IndexOptions) {
    this.#tail = new Tail(options.dimensions);
    this.#segments = new Segments(this.#tail, options);
    this.#among = new AmongSearch({
      tail: this.#tail,
      segments: this.#segments,
      tuner: this.#tuner,
      searchIn: (segment, asked) => this.#searchIn(segment, asked),
      compactRowsOf: (segment) => segment.compactRows(() => this.#readCompact(segment)),
    });
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
    return this.#waiting;
  }

  restore(found: readonly FoundFile[]): Promise<RestoredFiles> {
    return this.#segments.restore(found);
  }

  async reset(): Promise<void> {
    await this.#segments.reset();
    this.#tail.clear();
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
    this.#tail.remove(new Set(sequences));
    const removed = this.#segments.remove(sequences);
    this.#segments.sealIfDue();
    await removed;
  }

  async search({ vector, limit, depthMax, spare, among }: VectorQuery): Promise<Hit[]> {
    this.#check([vector]);
    // The vector is copied, because usearch reads from the start of its buffer, whatever its offset.
    const query = vector.slice();
    const vectors = this.#tail.rows + this.#segments.sum("vectors");
    const depth = Math.min(depthMax ?? vectors, vectors);
    // Only a memory with several vectors can take the places of others.
    const isOneEach = this.isExact && vectors === this.size;
    const bounds = { limit: Math.min(limit, this.size), depthMax: depth, spare: isOneEach ? 0 : spare };
    if (bounds.limit === 0) return [];
    if (among !== undefined) {
      return this.#among.search(query, { among, limit: bounds.limit, depthMax: vectors });
    }
    return searchDistinct(bounds, (count) =>
      this.#segments.reading((segments) => this.#nearest(query, { count, segments })),
    );
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

  /** Finds at least `count` of the nearest vectors, or all. What is sealed meanwhile is found where it was. */
  async #nearest(
    vector: Float32Array,
    { count, segments }: { count: number; segments: readonly Segment[] },
  ): Promise<Found> {
    const { chunks } = this.#tail;
    const living = segments.filter((segment) => segment.vectors > 0);
    const graphs = await searchGraphs({
      vector,
      count,
      segments: living,
      expansion: this.#tuner.expansionIn(living.map(({ vectors }) => vectors)),
      searchIn: (segment, asked) => this.#searchIn(segment, asked),
    });
    const hits = [...graphs.hits];
    if (living.length > 0 && this.#tuner.isDue(performance.now())) {
      this.#checkRecall(vector, { segments: living, hits: [...hits] });
    }
    const all = graphs.all && chunks.reduce((sum, { rows }) => sum + rows, 0) <= count;
    hits.push(...(await nearestInTail(chunks, { vector, count })));
    return { hits: hits.sort((a, b) => b.similarity - a.similarity), all };
  }

  async #searchIn(segment: Segment, asked: { vector: Float32Array; count: number }): Promise<Matches> {
    const { vector, count } = asked;
    if (count > EXPANSION_HERE_MAX) {
      const matches = await this.#inThread("search", segment, asked);
      if (matches !== undefined) return matches;
    }
    return segment.search(vector, count);
  }

  /** Searches the segments again exactly, and compares. No call waits for it. */
  #checkRecall(
    vector: Float32Array,
    { segments, hits }: { segments: readonly Segment[]; hits: Hit[] },
  ): void {
    const { onChecked, onTrouble } = this.options;
    const exactly = async () => {
      const nearest: Hit[] = [];
      for (const segment of segments) {
        const matches = await this.#inThread("searchExactly", segment, { vector, count: CHECKED });
        if (matches === undefined) return undefined;
        segment.collect(matches, CHECKED, nearest);
      }
      return compare(nearest, hits);
    };
    this.#tuner.check(performance.now(), exactly).then((checked) => checked && onChecked(checked), onTrouble);
  }

  /** Searches a segment in the thread; undefined if its files were replaced meanwhile. */
  async #inThread(
    op: "search" | "searchExactly",
    segment: Segment,
    asked: { vector: Float32Array; count: number },
  ): Promise<Matches | undefined> {
    const { path, graph } = segment;
    try {
      const thread = op === "search" ? this.options.thread : this.options.background;
      return await this.#waitFor(thread.call(op, { path, dimensions: graph.dimensions, ...asked }));
    } catch (error) {
      if (this.#segments.all.includes(segment)) throw error;
      return undefined;
    }
  }

  #readCompact({ path, graph, arrays }: Segment): Promise<Int8Array> {
    const { slots } = arrays;
    return this.#waitFor(this.options.thread.call("compact", { path, dimensions: graph.dimensions, slots }));
  }

  async #waitFor<T>(called: Promise<T>): Promise<T> {
    this.#waiting++;
    try {
      return await called;
    } finally {
      this.#waiting--;
    }
  }

  #check(vectors: readonly Float32Array[]): void {
    if (this.#closed) throw new Error("the index is closed");
    this.#tail.check(vectors);
  }
}
