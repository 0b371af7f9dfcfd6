import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { Clock } from "../../concurrency/clock.js";
import { WorkerLostError } from "../../concurrency/worker-client.js";
import { MemoryError, unavailable } from "../../errors.js";
import type { Among, Hit, RecallMeasured, RowCounts, VectorQuery } from "../../memory/ports/index.js";
import type { SharedStep, StepTimer } from "../../memory/ports/step-timer.js";
import type { LogFiles } from "../log-files.js";
import { Bits } from "../rows/bits.js";
import { type GraphLayout, graphPath, newPath, SegmentFile, type StoredSegment } from "../segment-file.js";
import type { Chunk, VectorRow } from "./chunk.js";
import { CHECKED, compare, ExpansionTuner } from "./expansion-tuner.js";
import { GRAPH_ERROR } from "./graph.js";
import type { DescribedGraph } from "./graph-file.js";
import { GraphSegment } from "./graph-segment.js";
import { compareAll, type Found, searchFiltered, searchGraphs } from "./graphs.js";
import type { IndexThreads } from "./index-thread.js";
import type { SegmentArrays } from "./keys.js";
import { EXACT_ERROR, nearestInTail } from "./nearest-in-tail.js";
import { Tail } from "./tail.js";

/**
 * Number of vectors returned for each memory: the index's rounding may rank the nearest behind one or
 * two others.
 */
const HITS_PER_MEMORY = 4;

/**
 * Share of `comparedBytesMax` up to which searches without a filter always compare all vectors: those of about one graph.
 * That takes 1 ms, and to search the graph only half of it, but this misses some. Until the graphs are known to miss
 * little, such searches compare all up to `comparedBytesMax`.
 */
const ALWAYS_COMPARED_SHARE = 3 / 8;

/** Pause after a failure to write a segment, such as a full disk. */
const PAUSE_MS = 30_000;
/** Longest pause between two sealings: with a longer one, the tail would grow until it takes long to search. */
const WAIT_MS_MAX = 15_000;
/** Factor of `tailRowsMax` above which a sealing does not wait for the pause after the last one. */
const HURRY_TIMES = 4;
/** Number of vectors sent to the thread at a time: an abandoned build ends within a fraction of a second. */
const SLICE_ROWS = 1024;
/** Number of new vectors from which on all cores build. Fewer are in no hurry, and leave them to calls. */
const HURRY_ROWS = 16_384;

export interface IndexOptions extends IndexThreads {
  readonly dimensions: number;
  /** The log's files; without a folder for them, nothing is sealed. */
  readonly files: LogFiles;
  readonly clock: Pick<Clock, "yield">;
  /** Number of vectors up to which nothing is sealed. */
  readonly exactRowsMax: number;
  /** Number of newest vectors of a larger index above which they are sealed, unless that was done a moment ago. */
  readonly tailRowsMax: number;
  /** Number of vectors of a segment from which on the next one begins. */
  readonly segmentRowsMax: number;
  /** Bytes of sealed vectors, one for each dimension, up to which a search with a filter may compare all. */
  readonly comparedBytesMax: number;
  /** Share of a core that sealing few memories may take: what is in no hurry waits. */
  readonly sealingShare: number;
  readonly timer: StepTimer<SharedStep>;
  /** Called when a segment cannot be written or searched; it is tried again. */
  readonly onTrouble: (error: unknown) => void;
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

/** Sources of a new segment. */
interface Sealing {
  /** Segment that it replaces. */
  readonly base: GraphSegment | undefined;
  readonly chunks: readonly Chunk[];
  /** Called before the graph's file is written. */
  onWriting(): void;
}

/** The vectors of one log's memories, as the log's index uses them. */
export type VectorPart = Omit<UsearchIndex, "settled">;

/** The vectors of one log: sealed segments, each a graph in files, and an exact tail of the newest memories. */
export class UsearchIndex {
  readonly #tail: Tail;
  readonly #tuner = new ExpansionTuner();
  /** Error of the last sealing, if it failed. */
  #failure: unknown;
  readonly #closing = new AbortController();
  /** The sealed segments. The last one grows by being replaced, until the next one begins. */
  #segments: readonly GraphSegment[] = [];
  #sealing: Promise<void> | undefined;
  /** Settles when the files of the sealing are written, which may have a removed memory; undefined if none are being. */
  #writing: Promise<unknown> | undefined;
  /** Memories that were removed since the sealing under way began. */
  readonly #removed = new Set<number>();
  /** Time before which no sealing begins that is in no hurry, and the timer that begins it then. */
  #sealAtMs = 0;
  #sealLater: NodeJS.Timeout | undefined;
  /** Searches under way. */
  readonly #readings = new Set<Promise<unknown>>();
  /** Settles when no check of a search is under way. */
  #checking: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: IndexOptions) {
    this.#tail = new Tail(options.dimensions);
  }

  get size(): number {
    return this.#tail.size + this.#sum("size");
  }

  get bytes(): number {
    return this.#tail.bytes + this.#sum("bytes");
  }

  get copiedBytes(): number {
    return this.#sum("copiedBytes");
  }

  releaseCopies(): void {
    for (const segment of this.#segments) segment.releaseCompact();
  }

  get rowCounts(): RowCounts {
    const backlog = Math.max(0, this.#tail.rows - this.#tailRowsMax({ waits: true }));
    return { tail: this.#tail.rows, removed: this.#sum("removed"), backlog };
  }

  get error(): number {
    return this.isExact ? EXACT_ERROR : GRAPH_ERROR;
  }

  get isExact(): boolean {
    return this.#segments.length === 0;
  }

  get waiting(): number {
    return this.options.thread.pending + this.options.reader.pending;
  }

  /**
   * Fills the empty index from those of its files that are whole and follow each other; returns the number of the last
   * entry that they cover.
   */
  async restore(all: readonly StoredSegment[]): Promise<number> {
    const { dimensions, files } = this.options;
    for (const found of all) {
      const { after, upto, graph } = found.manifest;
      if (after !== this.#upto || graph?.dimensions !== dimensions) break;
      const read = await readWhole(found, this.options);
      if (this.#closing.signal.aborted || read === undefined) break;
      const { arrays, file } = read;
      const segment = new GraphSegment(found.path, { after, upto }, graph, arrays, this.options);
      this.#segments = [...this.#segments, segment];
      files.addRestored(segment, file, found);
    }
    return this.#upto;
  }

  /** Empties the index, the tail at once as well: none of it is sealed any more. */
  async reset(): Promise<void> {
    // A segment that was published afterwards would hold what is about to be read again.
    while (this.#sealing !== undefined) await this.#sealing;
    const all = this.#segments;
    this.#segments = [];
    this.#tail.clear();
    await this.#close(all);
  }

  fits(vectors: readonly Float32Array[]): boolean {
    return this.#tail.fits(vectors);
  }

  async add(rows: readonly VectorRow[]): Promise<void> {
    for (const { vectors } of rows) this.#check(vectors);
    for (const row of rows) this.#tail.add(row);
    this.#sealIfDue();
    while (this.#hasBacklog && this.#sealing !== undefined) await this.#sealing;
    // The memories are here, but more would not fit into the process.
    if (this.#hasBacklog && this.#failure !== undefined) throw this.#failure;
  }

  /** Removes memories; resolves when they are overwritten in all files. */
  async remove(sequences: readonly number[]): Promise<void> {
    this.#tail.remove(sequences);
    const { files } = this.options;
    for (const sequence of sequences) if (this.#sealing !== undefined) this.#removed.add(sequence);
    const writing = this.#writing;
    const removed = files.remove("vectors", this.#segments, sequences);
    this.#sealIfDue();
    await removed;
    if (writing === undefined) return;
    await Promise.allSettled([writing]);
    // If it failed, its file may have been left.
    await files.overwrite(new Map());
  }

  /** A long memory has many vectors, which may fill the first places, so more are looked for until there are enough. */
  async search(query: VectorQuery): Promise<Hit[]> {
    const { vector, among } = query;
    this.#check([vector]);
    const vectors = this.#tail.rows + this.#sum("vectors");
    const limit = Math.min(query.limit, this.size, among?.size ?? query.limit);
    if (limit === 0) return [];
    // Only a memory with several vectors can take the places of others.
    const isOneEach = this.isExact && vectors === this.size;
    const depthMax = among === undefined ? Math.min(query.depthMax ?? vectors, vectors) : vectors;
    let more = limit * (HITS_PER_MEMORY - 1);
    if (among === undefined) more = query.spare ?? (isOneEach ? 0 : more);
    // The vector is copied, because usearch reads from the start of its buffer, whatever its offset.
    const copy = vector.slice();
    for (let depth = limit + more; ; depth *= 4) {
      const count = Math.min(depth, depthMax);
      const asked = { vector: copy, limit, count, among };
      const found = await this.#withSegments((segments) => this.#nearest(segments, asked));
      const { hits, memories } = firstOf(found, limit + (query.spare ?? 0));
      if (memories >= limit || found.all || count === depthMax) return hits;
    }
  }

  /** Waits until all that is due is sealed. */
  async settled(): Promise<void> {
    while (this.#sealing !== undefined) await this.#sealing;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the index is closed"));
    clearTimeout(this.#sealLater);
    await this.#sealing;
    const all = this.#segments;
    this.#segments = [];
    await this.#close(all);
    // The thread is ended next, and to end native code may abort the process.
    await this.#checking;
  }

  /**
   * Finds the `count` nearest vectors, or all. What is sealed meanwhile is found where it was. Only the first `count` of
   * all hits are kept: behind them, a segment may have nearer vectors than those that others have found.
   */
  async #nearest(segments: readonly GraphSegment[], asked: Asked): Promise<Found> {
    const { vector, count, limit, among } = asked;
    const { chunks } = this.#tail;
    const living = segments.filter((segment) => segment.vectors > 0);
    const expansion = this.#tuner.expansionIn(living.map((segment) => segment.vectors));
    const search = { vector, limit, count, expansion, segments: living };
    const inTail = { vector, count, among, isBesideGraphs: !this.isExact };
    if (among !== undefined) {
      const tail = await nearestInTail(chunks, inTail);
      const isSmall = this.#fitIn(this.options.comparedBytesMax);
      const { hits, all } = await searchFiltered({ ...search, among, tail, isSmall });
      return { hits: inOrder([...hits]).slice(0, count), all };
    }
    const compared = this.#comparesAll() ? await compareAll(search) : undefined;
    let sealed = compared && { hits: compared, all: false };
    const isFirstCheck = this.#tuner.isFirstDue(performance.now()) && !this.#fitIn(this.#alwaysComparedBytes);
    if (sealed === undefined || isFirstCheck) {
      const graphs = await searchGraphs(search);
      if (living.length > 0) this.#checkRecall(vector, living, graphs.hits);
      sealed ??= graphs;
    }
    const all = sealed.all && chunks.reduce((sum, { rows }) => sum + rows, 0) <= count;
    const tail = await nearestInTail(chunks, inTail);
    const hits = inOrder([...sealed.hits, ...tail]);
    return { hits: all ? hits : hits.slice(0, count), all };
  }

  /** Searches the segments again exactly, and compares, if that is due. No call waits for it. */
  #checkRecall(vector: Float32Array, segments: readonly GraphSegment[], hits: readonly Hit[]): void {
    const { background, onChecked, onTrouble } = this.options;
    const nowMs = performance.now();
    if (!this.#tuner.isDue(nowMs)) return;
    const exactly = async () => {
      const nearest: Hit[] = [];
      for (const segment of segments) {
        if (this.#closing.signal.aborted) return undefined;
        const asked = { path: segment.path, dimensions: vector.length, vector, count: CHECKED };
        const matches = await background.call("searchExactly", asked).catch((error: unknown) => {
          if (this.#segments.includes(segment)) throw error;
        });
        // Its files were replaced meanwhile.
        if (matches === undefined) return undefined;
        segment.collect(matches, CHECKED, nearest);
      }
      return compare(nearest, hits);
    };
    const note = (checked: RecallMeasured) => {
      this.#releaseUnused();
      onChecked(checked);
    };
    const checking = this.#tuner.check(nowMs, exactly);
    this.#checking = checking.then((checked) => checked && note(checked), onTrouble);
  }

  #check(vectors: readonly Float32Array[]): void {
    if (this.#closing.signal.aborted) throw new Error("the index is closed");
    if (this.fits(vectors)) return;
    // USearch would accept numbers that are not finite, and then find them first.
    throw new MemoryError("internal", `not finite vectors of ${this.options.dimensions} numbers`);
  }

  /** Runs work on the present segments, whose files and memory are there until it ends. */
  #withSegments<T>(work: (segments: readonly GraphSegment[]) => Promise<T>): Promise<T> {
    const reading = work(this.#segments).finally(() => this.#readings.delete(reading));
    this.#readings.add(reading);
    return reading;
  }

  #sum(what: "size" | "rows" | "vectors" | "removed" | "bytes" | "copiedBytes"): number {
    let sum = 0;
    for (const segment of this.#segments) sum += segment[what];
    return sum;
  }

  /** True if searches without a filter compare the vectors of all segments, and some more, which are in memory for that. */
  #comparesAll({ more = 0 } = {}): boolean {
    const { comparedBytesMax } = this.options;
    return this.#fitIn(this.#tuner.isBroad ? comparedBytesMax : this.#alwaysComparedBytes, more);
  }

  /** Bytes of all segments' vectors up to which these are compared whatever their graphs would miss. */
  get #alwaysComparedBytes(): number {
    return ALWAYS_COMPARED_SHARE * this.options.comparedBytesMax;
  }

  /** Gives the memory back of vectors that searches without a filter compare no more, unless filters need them. */
  #releaseUnused(): void {
    if (this.#comparesAll()) return;
    for (const segment of this.#segments) if (!segment.isScanned) segment.releaseCompact();
  }

  /** True if the vectors of all segments, and `more` rows, have at most so many bytes, one for each dimension. */
  #fitIn(bytes: number, more = 0): boolean {
    return (this.#sum("rows") + more) * this.options.dimensions <= bytes;
  }

  get #hasBacklog(): boolean {
    return this.#tail.bytes > this.options.backlogBytesMax;
  }

  /** Begins to seal the tail if it has grown, or to build a segment anew that has many gaps. */
  #sealIfDue(): void {
    const { folder } = this.options.files;
    if (folder === undefined || this.#sealing !== undefined || this.#closing.signal.aborted) return;
    const waits = performance.now() < this.#sealAtMs;
    const gappy = this.#segments.find(({ isGappy }) => isGappy);
    const isLong = (options: { waits: boolean }) => this.#tail.rows > this.#tailRowsMax(options);
    if (isLong({ waits }) && !(waits && this.#failure !== undefined))
      this.#begin(folder, this.#lastWithSpace);
    else if (gappy !== undefined && !waits) this.#begin(folder, gappy, { rows: 0 });
    else if (this.#failure === undefined && (gappy !== undefined || isLong({ waits: false })))
      this.#sealAfterPause();
  }

  /** Begins what is due when the pause ends: nothing may be added or removed for a long time. */
  #sealAfterPause(): void {
    this.#sealLater ??= setTimeout(() => {
      this.#sealLater = undefined;
      this.#sealIfDue();
    }, this.#sealAtMs - performance.now()).unref();
  }

  /** Number of vectors of the tail above which they are sealed; a larger one after a sealing a moment ago. */
  #tailRowsMax({ waits }: { waits: boolean }): number {
    const { exactRowsMax, tailRowsMax } = this.options;
    return this.#segments.length === 0 ? exactRowsMax : tailRowsMax * (waits ? HURRY_TIMES : 1);
  }

  /** Number of the last entry that they cover. */
  get #upto(): number {
    return this.#segments.at(-1)?.range.upto ?? 0;
  }

  /** The last segment, if it has room. */
  get #lastWithSpace(): GraphSegment | undefined {
    const last = this.#segments.at(-1);
    const free = this.options.segmentRowsMax - (last?.vectors ?? 0);
    return free >= this.options.tailRowsMax ? last : undefined;
  }

  #begin(
    folder: string,
    base: GraphSegment | undefined,
    { rows = this.options.segmentRowsMax - (base?.vectors ?? 0) } = {},
  ): void {
    this.#removed.clear();
    const startMs = performance.now();
    this.#sealing = this.#seal(folder, base, rows)
      .then(
        () => {
          this.#failure = undefined;
          const waitMs = (performance.now() - startMs) / this.options.sealingShare;
          this.#sealAtMs = performance.now() + Math.min(waitMs, WAIT_MS_MAX);
        },
        (error) => this.#pause(error),
      )
      .finally(() => {
        this.#sealing = undefined;
        this.#sealIfDue();
      });
  }

  async #seal(folder: string, base: GraphSegment | undefined, rows: number): Promise<void> {
    const chunks = rows > 0 ? this.#tail.freeze(rows) : [];
    let drop = false;
    try {
      const write = () => this.#write(folder, { base, chunks, onWriting });
      const onWriting = () => (this.#writing = writing);
      const writing = this.options.timer.time("seal", write);
      const sealed = await writing.finally(() => (this.#writing = undefined));
      const like = base ?? this.#segments.at(-1);
      // The next search would not have them, or wait for them.
      const isCompact = (like?.isCompact ?? this.#comparesAll({ more: sealed.rows })) && sealed.vectors > 0;
      if (isCompact && !this.#closing.signal.aborted)
        await sealed.compactRows().catch(this.options.onTrouble);
      const position = base === undefined ? this.#segments.length : this.#segments.indexOf(base);
      sealed.isScanned = like?.isScanned ?? false;
      this.#segments = this.#segments.toSpliced(position, base === undefined ? 0 : 1, sealed);
      this.#releaseUnused();
      drop = true;
    } finally {
      this.#tail.thaw({ drop });
    }
    if (base === undefined) return;
    await this.#close([base]);
    await this.options.files.erase([base]);
  }

  /** Writes a segment's files. What is removed meanwhile is overwritten in them. */
  async #write(folder: string, sealing: Sealing): Promise<GraphSegment> {
    const { files, enqueueBuild } = this.options;
    const { base, chunks } = sealing;
    const path = newPath(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    let sealed: GraphSegment;
    const overwriting = { ranges: [], rows: [] };
    try {
      const { graph, ...slots } = await enqueueBuild(() => this.#build(path, sealing));
      const arrays = { live: Bits.all(slots.keys.length).words, ...slots };
      const after = base?.range.after ?? this.#upto;
      const range = { after, upto: chunks.at(-1)?.upto ?? base?.range.upto ?? after };
      sealed = new GraphSegment(path, range, graph, arrays, this.options);
    } catch (error) {
      // After a failure, such as a full disk, the file is useless and takes room.
      await rm(graphPath(path), { force: true });
      throw error;
    }
    for (const sequence of this.#removed) sealed.remove(sequence, overwriting);
    try {
      const written = [files.write(sealed, SegmentFile.from(sealed, path))];
      // At once: the manifest waits for it, so it never vouches for a file that holds a removed vector.
      if (overwriting.rows.length > 0) written.push(files.overwrite(new Map([[sealed, overwriting]])));
      await Promise.all(written);
      return sealed;
    } catch (error) {
      sealed.close();
      throw error;
    }
  }

  /** Writes a graph with the memories of a segment and of some chunks; throws if the index is closed. */
  async #build(path: string, { base, chunks, onWriting }: Sealing): Promise<DescribedGraph> {
    const { dimensions, background } = this.options;
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const gone = base === undefined ? [] : [...base.gone];
    await background.call("begin", { dimensions, path: base?.path, gone, anew: base?.isGappy });
    const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
    const threads = rows >= HURRY_ROWS ? availableParallelism() : 1;
    for (const chunk of chunks) {
      for (const { keys, vectors } of slicesOf(chunk)) {
        signal.throwIfAborted();
        await background.call("add", { keys, vectors, threads }, { transfer: [vectors.buffer] });
      }
    }
    signal.throwIfAborted();
    onWriting();
    return background.call("write", { path: graphPath(path), gone: [...this.#removed] });
  }

  #pause(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    for (const segment of this.#segments) if (!existsSync(segment.path)) this.options.files.onLost(segment);
    // A lost thread is replaced at once, but not one after another.
    const isLost = error instanceof WorkerLostError && this.#failure === undefined;
    this.#sealAtMs = performance.now() + (isLost ? 0 : PAUSE_MS);
    this.#failure = unavailable("an index file of this namespace could not be written", error);
    this.options.onTrouble(error);
  }

  /** Closes segments that no search begins to use any more. */
  async #close(segments: readonly GraphSegment[]): Promise<void> {
    await Promise.allSettled(this.#readings);
    for (const segment of segments) segment.close();
  }
}

/**
 * Copies a chunk's vectors, all at once, because rows move when others are removed. What is removed from it meanwhile
 * is removed from the graph later.
 */
function slicesOf({ dimensions, keys, vectors, rows }: Chunk) {
  return Array.from({ length: Math.ceil(rows / SLICE_ROWS) }, (_, i) => {
    const [from, to] = [i * SLICE_ROWS, Math.min(rows, (i + 1) * SLICE_ROWS)];
    return {
      keys: BigUint64Array.from(keys.subarray(from, to), BigInt),
      vectors: vectors.slice(from * dimensions, to * dimensions),
    };
  });
}

/** Reads the arrays of a segment; undefined if its files are damaged or missing. */
export async function readWhole(
  found: StoredSegment,
  { clock, reader }: Pick<IndexOptions, "clock" | "reader">,
): Promise<{ arrays: SegmentArrays; file: SegmentFile } | undefined> {
  const read = await SegmentFile.read<SegmentArrays>(found, clock);
  if (read === undefined) return undefined;
  const { slots, live, sums } = read.arrays;
  const graph = found.manifest.graph as GraphLayout;
  const isWhole = await reader.call("check", { path: graphPath(found.path), graph, slots, live, sums });
  return isWhole ? read : undefined;
}

/** Sorts the nearest first, of equals the oldest. */
function inOrder(hits: Hit[]): Hit[] {
  return hits.sort((a, b) => b.similarity - a.similarity || a.sequence - b.sequence || a.window - b.window);
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
