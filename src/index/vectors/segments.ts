import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { Clock } from "../../concurrency/clock.js";
import { WorkerLostError } from "../../concurrency/worker-client.js";
import { unavailable } from "../../errors.js";
import type { SharedStep, StepTimer } from "../../memory/ports/step-timer.js";
import type { LogFiles } from "../log-files.js";
import { Bits } from "../rows/bits.js";
import { type Found, type GraphLayout, graphPath, newPath, SegmentFile } from "../segment-file.js";
import type { Chunk } from "./chunk.js";
import type { DescribedGraph } from "./graph-file.js";
import { GraphSegment } from "./graph-segment.js";
import type { IndexThreads } from "./index-thread.js";
import type { SegmentArrays } from "./keys.js";
import type { Tail } from "./tail.js";

/** Pause after a failure to write a segment, such as a full disk. */
const PAUSE_MS = 30_000;
/** Longest wait between two sealings in no hurry: after a long one, the tail would take long to search. */
const WAIT_MS_MAX = 15_000;
/** Multiple of the rows that make a sealing due above which it does not wait. */
const HURRY = 4;
/** Number of vectors sent to the thread at a time: an abandoned build ends within a fraction of a second. */
const SLICE_ROWS = 1024;
/** Number of new vectors from which on all cores build. Fewer are in no hurry, and leave them to calls. */
const HURRY_ROWS = 16_384;

export interface SealingOptions {
  /** Number of vectors up to which nothing is sealed. */
  readonly exactRowsMax: number;
  /** Number of newest vectors of a larger index above which they are sealed, unless that was done a moment ago. */
  readonly tailRowsMax: number;
  /** Number of vectors of a segment from which on the next one begins. */
  readonly segmentRowsMax: number;
  /** Share of a core that sealing few memories may take: what is in no hurry waits. */
  readonly sealingShare: number;
  readonly timer: StepTimer<SharedStep>;
  /** Called when a segment cannot be written or searched; it is tried again. */
  readonly onTrouble: (error: unknown) => void;
}

export interface SegmentsOptions extends IndexThreads, SealingOptions {
  readonly dimensions: number;
  /** The log's files; without a folder for them, nothing is sealed. */
  readonly files: LogFiles;
  readonly clock: Pick<Clock, "yield">;
}

/** Sources of a new segment. */
interface Sealing {
  /** Segment that it replaces. */
  readonly base: GraphSegment | undefined;
  readonly chunks: readonly Chunk[];
  /** Called before the graph's file is written. */
  onWriting(): void;
}

/** The sealed segments of one index. The last one grows by being replaced, until the next one begins. */
export class Segments {
  /** Error of the last sealing, if it failed. */
  failure: unknown;
  readonly #closing = new AbortController();
  #all: readonly GraphSegment[] = [];
  #sealing: Promise<void> | undefined;
  /** Settles when the sealing under way has written its files, if it has begun to: a removed memory may be in them. */
  #writing: Promise<unknown> | undefined;
  /** Memories that were removed since the sealing under way began. */
  readonly #removed = new Set<number>();
  /** Time before which no sealing begins that is in no hurry. */
  #sealAtMs = 0;
  /** Searches under way. */
  readonly #readings = new Set<Promise<unknown>>();

  constructor(
    private readonly tail: Tail,
    private readonly options: SegmentsOptions,
  ) {}

  get all(): readonly GraphSegment[] {
    return this.#all;
  }

  /** Resolves when the sealing under way has ended; undefined if there is none. */
  get sealing(): Promise<void> | undefined {
    return this.#sealing;
  }

  /** Number of the tail's vectors beyond those that make sealing due at once. */
  get behind(): number {
    return Math.max(0, this.tail.rows - this.#tailRowsMax({ waits: true }));
  }

  sum(what: "size" | "vectors" | "removed" | "bytes"): number {
    let sum = 0;
    for (const segment of this.#all) sum += segment[what];
    return sum;
  }

  /** Runs work on the present segments, whose files and memory are there until it ends. */
  reading<T>(work: (segments: readonly GraphSegment[]) => Promise<T>): Promise<T> {
    const reading = work(this.#all).finally(() => this.#readings.delete(reading));
    this.#readings.add(reading);
    return reading;
  }

  /**
   * Opens the segments whose files are whole, up to the first that is not; returns the number of the last entry that
   * they cover.
   */
  async restore(all: readonly Found[]): Promise<number> {
    const { dimensions, files } = this.options;
    for (const found of all) {
      const { after, upto, graph } = found.manifest;
      if (after !== this.#upto || graph?.dimensions !== dimensions) break;
      const read = await readWhole(found, this.options);
      if (this.#closing.signal.aborted || read === undefined) break;
      const { arrays, file } = read;
      const segment = new GraphSegment(found.path, { after, upto }, graph, arrays, this.options);
      this.#all = [...this.#all, segment];
      files.keep(segment, file, found);
    }
    return this.#upto;
  }

  /** Empties the index, the tail at once as well: none of it is sealed any more. */
  async reset(): Promise<void> {
    // A segment that was published afterwards would hold what is about to be read again.
    while (this.#sealing !== undefined) await this.#sealing;
    const all = this.#all;
    this.#all = [];
    this.tail.clear();
    await this.#close(all);
  }

  /** Removes memories; resolves when they are overwritten in all files. */
  async remove(sequences: readonly number[]): Promise<void> {
    const { files } = this.options;
    for (const sequence of sequences) if (this.#sealing !== undefined) this.#removed.add(sequence);
    const writing = this.#writing;
    await files.remove("vectors", this.#all, sequences);
    if (writing === undefined) return;
    await Promise.allSettled([writing]);
    // If it failed, its file may have been left.
    await files.overwrite(new Map());
  }

  /** Begins to seal the tail if it has grown, or to build a segment anew that has many gaps. */
  sealIfDue(): void {
    const { folder } = this.options.files;
    if (folder === undefined || this.#sealing !== undefined || this.#closing.signal.aborted) return;
    const waits = performance.now() < this.#sealAtMs;
    const gappy = this.#all.find(({ isGappy }) => isGappy);
    const isLong = this.tail.rows > this.#tailRowsMax({ waits });
    if (isLong && !(waits && this.failure !== undefined)) this.#begin(folder, this.#lastWithSpace);
    else if (gappy !== undefined && !waits) this.#begin(folder, gappy, { rows: 0 });
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the index is closed"));
    await this.#sealing;
    const all = this.#all;
    this.#all = [];
    await this.#close(all);
  }

  /** Number of vectors of the tail above which they are sealed; a larger one after a sealing a moment ago. */
  #tailRowsMax({ waits }: { waits: boolean }): number {
    const { exactRowsMax, tailRowsMax } = this.options;
    return this.#all.length === 0 ? exactRowsMax : tailRowsMax * (waits ? HURRY : 1);
  }

  /** Number of the last entry that they cover. */
  get #upto(): number {
    return this.#all.at(-1)?.range.upto ?? 0;
  }

  /** The last segment, if it has room. */
  get #lastWithSpace(): GraphSegment | undefined {
    const last = this.#all.at(-1);
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
          this.failure = undefined;
          const waitMs = (performance.now() - startMs) / this.options.sealingShare;
          this.#sealAtMs = performance.now() + Math.min(waitMs, WAIT_MS_MAX);
        },
        (error) => this.#pause(error),
      )
      .finally(() => {
        this.#sealing = undefined;
        this.sealIfDue();
      });
  }

  async #seal(folder: string, base: GraphSegment | undefined, rows: number): Promise<void> {
    const chunks = rows > 0 ? this.tail.freeze(rows) : [];
    let drop = false;
    try {
      const write = () => this.#write(folder, { base, chunks, onWriting });
      const onWriting = () => (this.#writing = writing);
      const writing = this.options.timer.time("seal", write);
      const sealed = await writing.finally(() => (this.#writing = undefined));
      // Searches with a filter have needed them before, and the next one would wait for them.
      const isFiltered = this.#all.some(({ isCompact }) => isCompact) && sealed.vectors > 0;
      if (isFiltered && !this.#closing.signal.aborted)
        await sealed.compactRows().catch(this.options.onTrouble);
      const place = base === undefined ? this.#all.length : this.#all.indexOf(base);
      this.#all = this.#all.toSpliced(place, base === undefined ? 0 : 1, sealed);
      drop = true;
    } finally {
      this.tail.thaw({ drop });
    }
    if (base === undefined) return;
    await this.#close([base]);
    await this.options.files.erase([base]);
  }

  /** Writes a segment's files. What is removed meanwhile is overwritten in them. */
  async #write(folder: string, sealing: Sealing): Promise<GraphSegment> {
    const { files, buildInTurn } = this.options;
    const { base, chunks } = sealing;
    const path = newPath(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    let sealed: GraphSegment;
    const overwriting = { ranges: [], rows: [] };
    try {
      const { graph, ...places } = await buildInTurn(() => this.#build(path, sealing));
      const arrays = { live: Bits.all(places.keys.length).words, ...places };
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
      await files.write(sealed, SegmentFile.of(sealed, path));
      if (overwriting.rows.length > 0) await files.overwrite(new Map([[sealed, overwriting]]));
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
    for (const segment of this.#all) if (!existsSync(segment.path)) this.options.files.onLost(segment);
    // A lost thread is replaced at once, but not one after another.
    const isLost = error instanceof WorkerLostError && this.failure === undefined;
    this.#sealAtMs = performance.now() + (isLost ? 0 : PAUSE_MS);
    this.failure = unavailable("an index file of this namespace could not be written", error);
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
  found: Found,
  { clock, reader }: Pick<SegmentsOptions, "clock" | "reader">,
): Promise<{ arrays: SegmentArrays; file: SegmentFile } | undefined> {
  const read = await SegmentFile.read<SegmentArrays>(found, clock);
  if (read === undefined) return undefined;
  const { slots, live, sums } = read.arrays;
  const graph = found.manifest.graph as GraphLayout;
  const isWhole = await reader.call("check", { path: graphPath(found.path), graph, slots, live, sums });
  return isWhole ? read : undefined;
}
