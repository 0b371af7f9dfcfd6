import type { Clock } from "../concurrency/clock.js";
import { runToEnd, TimeSlice } from "../concurrency/time-slices.js";
import type { Gap, Index, IndexPart, IndexRow, Mark, RestoredIndex } from "../memory/ports/index.js";
import type { LogFiles } from "./log-files.js";
import { type Row, readRow, Segment } from "./segment.js";
import { newPath, type Range, SegmentFile } from "./segment-file.js";
import type { VectorPart } from "./vectors/usearch-index.js";

/** Bytes of segments that are merged at once; a merge of more lets other work run in between. */
const MERGED_AT_ONCE_BYTES = 131_072;
/** Number of memories that are added without letting other work run before. */
const ADDED_AT_ONCE = 64;
/** Time for which memories are tokenised before they become a segment, which takes about as long again. */
const TOKENISED_MS = 2;
/** Bytes and memories of a segment from which on it is merged with no others. */
const SEGMENT_BYTES_MAX = 67_108_864;
const SEGMENT_ROWS_MAX = 65_536;
/** Bytes of a segment from which on it is written to a file: fewer are built from the log in a moment. */
const FILE_BYTES_MIN = 4_194_304;
/** Share of removed memories from which on a segment is merged into one without them, and their least number. */
const REMOVED_SHARE_MAX = 0.3;
const REMOVED_MIN = 64;
/** Pause after a file could not be written, for example because the disk is full. */
const PAUSE_MS = 30_000;

export interface LogIndexOptions {
  readonly vectors: VectorPart;
  readonly files: LogFiles;
  readonly clock: Pick<Clock, "yield">;
  /** Bytes of a segment from which on it is written to a file. */
  readonly fileBytesMin?: number | undefined;
  /** Bytes of segments that are merged without letting other work run. */
  readonly mergedAtOnceBytes?: number | undefined;
  /** Called with failures that no call waits for. */
  onTrouble(error: unknown): void;
  /** Called once it is closed. */
  onClosed?(index: LogIndex): void;
}

/**
 * The index of one log's memories: their vectors, and their words and fields in segments. Memories that are added make a
 * small segment at once, and neighbours of similar size are merged, so that each is larger than all after it together.
 * Vectors are sealed in files of their own, so either may cover more of the log than the other.
 */
export class LogIndex implements Index {
  onLost: () => void = () => {};
  changes = 0;
  readonly vectors: VectorPart;
  /** True once its files are known, so that they are overwritten here. */
  isRestored = false;
  #segments: readonly Segment[] = [];
  /** Number of the last memory or other entry that was handed over. */
  #upto = 0;
  /** Outcome of the additions so far, and how many of them are under way. */
  #adding: Promise<void> = Promise.resolve();
  #additions = 0;
  /** Memories that were removed before their addition or filling in: it must leave them out. */
  readonly #unadded = new Set<number>();
  #merging: Promise<void> | undefined;
  /** The segments that are merged now. */
  #merged: readonly Segment[] = [];
  /** Ranges of the log that the restored files of one part lack, and that are to be filled: first those of words. */
  #gaps: readonly Gap[] = [];
  #writeAtMs = 0;
  #closing: Promise<void> | undefined;

  constructor(private readonly options: LogIndexOptions) {
    this.vectors = options.vectors;
    // Words and fields are in memory as well.
    options.files.onLost = ({ part }) => {
      if (part === "vectors") this.onLost();
    };
  }

  get size(): number {
    return this.#segments.reduce((sum, { living }) => sum + living, 0);
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, this.vectors.bytes);
  }

  get rowCounts(): Index["rowCounts"] {
    const unwritten = this.#segments.filter((segment) => !this.options.files.isWritten(segment));
    const large = unwritten.filter((segment) => this.#isLarge(segment));
    const sum = (segments: readonly Segment[], what: "living" | "removed") =>
      segments.reduce((total, segment) => total + segment[what], 0);
    const words = {
      tail: sum(unwritten, "living"),
      removed: sum(this.#segments, "removed"),
      backlog: sum(large, "living"),
    };
    return { vectors: this.vectors.rowCounts, words };
  }

  /** The segments of words and fields for a search, once all that was to be added before it has been. */
  async segments(): Promise<readonly Segment[]> {
    if (this.#additions > 0) await this.#adding;
    return this.#segments;
  }

  async restore(): Promise<RestoredIndex | undefined> {
    const { files, clock } = this.options;
    const found = await files.find();
    const filesOf = (part: IndexPart) => found.filter(({ manifest }) => manifest.part === part);
    const vectorsUpto = await this.vectors.restore(filesOf("vectors"));
    for (const each of filesOf("words")) {
      const read = await SegmentFile.read(each, clock);
      if (read === undefined) continue;
      const { after, upto } = each.manifest;
      const segment = Segment.from({ after, upto }, read.arrays);
      this.#segments = [...this.#segments, segment];
      files.addRestored(segment, read.file, each);
    }
    // If it was closed meanwhile, files were left unread that must not be erased as useless.
    if (this.#closing !== undefined) return undefined;
    const restored = await files.eraseOthers();
    const upto = Math.max(vectorsUpto, this.#segments.at(-1)?.range.upto ?? 0);
    this.#upto = upto;
    this.#gaps = gapsBetween(this.#segments, upto);
    if (vectorsUpto < upto) this.#gaps = [...this.#gaps, { part: "vectors", after: vectorsUpto, upto }];
    this.changes++;
    this.isRestored = true;
    return upto === 0 ? undefined : { upto, ...restored };
  }

  get gap(): Gap | undefined {
    return this.#gaps[0];
  }

  async fill(rows: readonly IndexRow[], upto: number): Promise<void> {
    const [gap, ...others] = this.#gaps;
    if (gap === undefined || upto > gap.upto) throw new Error("there is no such gap");
    if (gap.part === "words") await this.#addWords(rows, { after: gap.after, upto });
    else await this.#addVectors(rows.filter(({ sequence }) => !this.#unadded.has(sequence)));
    this.#gaps = upto === gap.upto ? others : [{ ...gap, after: upto }, ...others];
    if (this.gap === undefined) this.#unadded.clear();
    this.#maintain();
  }

  async reset(): Promise<void> {
    // A merge that ends later would put the old segments back.
    await this.settled();
    this.#segments = [];
    this.#gaps = [];
    this.#upto = 0;
    this.changes++;
    await this.vectors.reset();
    await this.options.files.reset();
  }

  noteEnd(end: Mark): void {
    const { files } = this.options;
    if (end.sequence > files.end.sequence) files.end = end;
  }

  noteExpired(expiredMs: number): void {
    const { files } = this.options;
    files.expiredMs = Math.max(files.expiredMs, expiredMs);
  }

  has(sequence: number): boolean {
    return this.#segments.some((segment) => segment.has(sequence));
  }

  fits(vectors: readonly Float32Array[]): boolean {
    return this.vectors.fits(vectors);
  }

  async add(rows: readonly IndexRow[], applied: Mark): Promise<void> {
    // Overlapping segments would give some memories twice, and lose others when they are merged.
    if ((rows[0]?.sequence as number) <= this.#upto)
      throw new Error("memories are added in the order of the log");
    this.isRestored = true;
    const { files } = this.options;
    if (applied.sequence > files.applied.sequence) files.applied = applied;
    const range = { after: this.#upto, upto: rows.at(-1)?.sequence ?? this.#upto };
    this.#upto = range.upto;
    // Both begin at once: a search that follows sees them.
    await Promise.all([this.#addVectors(rows), rows.length > 0 ? this.#addWords(rows, range) : this.#adding]);
  }

  async #addVectors(rows: readonly IndexRow[]): Promise<void> {
    const withVectors = rows.flatMap(({ sequence, vectors = [] }) => {
      return vectors.length === 0 ? [] : [{ sequence, vectors }];
    });
    if (withVectors.length > 0) await this.vectors.add(withVectors);
  }

  #addWords(rows: readonly IndexRow[], range: Range): Promise<void> {
    this.changes++;
    this.#additions++;
    const before = this.#additions > 1 ? this.#adding : undefined;
    // Begins in this call if it can: a search that follows has less to wait for.
    const adding =
      before === undefined ? this.#build(rows, range) : before.then(() => this.#build(rows, range));
    this.#adding = adding.finally(() => {
      if (--this.#additions === 0 && this.gap === undefined) this.#unadded.clear();
    });
    return this.#adding;
  }

  async remove(sequences: readonly number[]): Promise<void> {
    const { files } = this.options;
    const mayBeAdded = this.#additions > 0 || this.gap !== undefined;
    for (const sequence of mayBeAdded ? sequences : []) this.#unadded.add(sequence);
    if (sequences.length > 0) this.changes++;
    const removed = [this.vectors.remove(sequences), files.remove("words", this.#segments, sequences)];
    this.#maintain();
    await Promise.all(removed);
  }

  close({ retainFiles }: { retainFiles: boolean }): Promise<void> {
    this.#closing ??= this.#close({ retainFiles });
    return this.#closing;
  }

  async #close({ retainFiles }: { retainFiles: boolean }): Promise<void> {
    const { files, onClosed } = this.options;
    const closing = [this.vectors.close(), this.#adding.then(() => this.#merging)];
    // Both are closed, even if one of them fails.
    const all = await Promise.allSettled(closing);
    this.#writeAtMs = 0;
    if (retainFiles && all[1]?.status === "fulfilled") this.#writeLarge();
    all.push(...(await Promise.allSettled([files.close({ retainFiles })])));
    onClosed?.(this);
    for (const closed of all) if (closed.status === "rejected") throw closed.reason;
  }

  /** Waits until nothing more is to be merged or written. */
  async settled(): Promise<void> {
    await this.#adding;
    while (this.#merging !== undefined) await this.#merging;
  }

  /** Makes segments of memories, each as large as it gets before other work must run. */
  async #build(rows: readonly IndexRow[], { after, upto }: Range): Promise<void> {
    // To read many memories has held the main thread for some time already.
    if (rows.length > ADDED_AT_ONCE) await this.options.clock.yield();
    let from = after;
    let built: Row[] = [];
    const timeSlice = new TimeSlice(this.options.clock, TOKENISED_MS);
    for (const [i, row] of rows.entries()) {
      if (!this.#unadded.has(row.sequence)) built.push(readRow(row));
      const isLast = i === rows.length - 1;
      if (!isLast && !timeSlice.isOver) continue;
      const range = { after: from, upto: isLast ? upto : row.sequence };
      if (built.length > 0) this.#insert(Segment.build(range, built));
      [from, built] = [range.upto, []];
      if (isLast) break;
      await timeSlice.end();
    }
    this.#maintain();
  }

  /** Puts a segment where it belongs in the order of the log, and merges it with small ones before it. */
  #insert(segment: Segment): void {
    const position = this.#segments.filter(({ range }) => range.upto <= segment.range.after).length;
    this.#segments = this.#segments.toSpliced(position, 0, segment);
    if (this.#hasGapBetween) return;
    const last = this.#merged.at(-1);
    const free = last === undefined ? this.#segments : this.#segments.slice(this.#segments.indexOf(last) + 1);
    const { mergedAtOnceBytes = MERGED_AT_ONCE_BYTES } = this.options;
    const merged = free.slice(mergeableFrom(free, mergedAtOnceBytes));
    if (merged.length < 2) return;
    this.#replace(merged, runToEnd(Segment.merged(merged)));
  }

  /** True if segments are still to be filled in between others: nothing may be merged across them. */
  get #hasGapBetween(): boolean {
    return this.#gaps.some(({ part, upto }) => part === "words" && upto < this.#upto);
  }

  /** Begins what is due: merging, then writing. */
  #maintain(): void {
    if (this.#closing !== undefined || this.#hasGapBetween) return;
    this.#writeLarge();
    if (this.#merging !== undefined) return;
    const due = this.#dueToMerge();
    if (due.length === 0) return;
    this.#merged = due;
    this.#merging = this.#merge(due)
      .catch((error) => this.options.onTrouble(error))
      .finally(() => {
        this.#merging = undefined;
        this.#merged = [];
        this.#maintain();
      });
  }

  #dueToMerge(): readonly Segment[] {
    const wasteful = this.#segments.find(({ rows, removed }) => {
      return removed >= Math.max(REMOVED_MIN, rows * REMOVED_SHARE_MAX);
    });
    if (wasteful !== undefined) return [wasteful];
    const due = this.#segments.slice(mergeableFrom(this.#segments, SEGMENT_BYTES_MAX));
    return due.length < 2 ? [] : due;
  }

  async #merge(due: readonly Segment[]): Promise<void> {
    const work = Segment.merged(due);
    const timeSlice = new TimeSlice(this.options.clock);
    let step = work.next();
    for (; !step.done; step = work.next()) {
      if (this.#closing !== undefined) return;
      if (timeSlice.isOver) await timeSlice.end();
    }
    this.#replace(due, step.value);
  }

  /** Puts a merged segment in the place of its parts, on the disk as well. */
  #replace(parts: readonly Segment[], merged: Segment): void {
    const position = this.#segments.indexOf(parts[0] as Segment);
    const isEmpty = merged.rows === 0;
    this.#segments = this.#segments.toSpliced(position, parts.length, ...(isEmpty ? [] : [merged]));
    const { files, onTrouble } = this.options;
    const old = parts.filter((part) => files.has(part));
    if (old.length === 0) return;
    if (isEmpty) files.erase(old).catch(onTrouble);
    else void this.#write(merged, old);
  }

  #writeLarge(): void {
    const { files } = this.options;
    if (performance.now() < this.#writeAtMs) return;
    for (const segment of this.#segments) {
      if (this.#isLarge(segment) && !files.has(segment)) void this.#write(segment);
    }
  }

  /** True if a segment is to be written to a file. */
  #isLarge(segment: Segment): boolean {
    const { files, fileBytesMin = FILE_BYTES_MIN } = this.options;
    return files.folder !== undefined && segment.bytes >= fileBytesMin;
  }

  /** Writes a segment's file in place of others, or waits a while before it is tried again. */
  async #write(segment: Segment, replaced: readonly Segment[] = []): Promise<void> {
    const { files } = this.options;
    try {
      await files.write(segment, SegmentFile.from(segment, newPath(files.folder as string)), replaced);
    } catch (error) {
      this.#writeAtMs = performance.now() + PAUSE_MS;
      this.options.onTrouble(error);
    }
  }
}

/**
 * Index of the first of the last segments that are merged: all from it on, of which each is no larger than those after
 * it together.
 */
function mergeableFrom(segments: readonly Segment[], bytesMax: number): number {
  let [from, bytes, rows] = [segments.length, 0, 0];
  for (let i = segments.length - 1; i >= 0; i--) {
    const segment = segments[i] as Segment;
    const isNewest = i === segments.length - 1;
    if (!isNewest && bytes >= segment.bytes) from = i;
    bytes += segment.bytes;
    rows += segment.rows;
    if (bytes > bytesMax || rows > SEGMENT_ROWS_MAX) return from > i ? from : i + 1;
  }
  return from;
}

/** Ranges up to a number of the log that no segment covers. */
function gapsBetween(segments: readonly Segment[], upto: number): Gap[] {
  const ends = [...segments.map(({ range }) => range), { after: upto, upto }];
  return ends.flatMap(({ after: end }, i) => {
    const after = ends[i - 1]?.upto ?? 0;
    return end > after ? [{ part: "words" as const, after, upto: end }] : [];
  });
}
