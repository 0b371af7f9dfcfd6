import { unavailable } from "../errors.js";
import type { IndexPart, Mark, RestoredIndex } from "../memory/ports/index.js";
import {
  type AnySegment,
  decodeBits,
  encodeBits,
  eraseOthers,
  findSegments,
  type Overwriting,
  type SegmentFile,
  type StoredSegment,
} from "./segment-file.js";

/** Time without a change after which manifests are written again, and the longest that they are out of date. */
const QUIET_MS = 5_000;
const UNPUBLISHED_MS_MAX = 60_000;
/** Entries of the log that a manifest may lack: removals among them are read again when the index is opened. */
const UNPUBLISHED_ENTRIES_MAX = 4_096;

const NONE: Mark = { sequence: 0, opId: "" };

export interface LogFilesOptions {
  /** Folder of the files; an index that is not saved has none. */
  readonly folder?: string | undefined;
  readonly logId: string;
  /** Time without an overwriting after which manifests are written again. */
  readonly quietMs?: number | undefined;
  /** Called with failures that no call waits for. */
  onTrouble(error: unknown): void;
  /** Called when a file was written. */
  onWritten?(): void;
}

/**
 * The files of one log's segments, of vectors as of words and fields. A removed memory is overwritten in all of them; a
 * file in which that fails is erased.
 */
export class LogFiles {
  /** Entry of the log up to which it has been applied to all files. */
  applied: Mark = NONE;
  /** Entry of the log up to which memories may have been erased before they were read from it. */
  end: Mark = NONE;
  /** The latest time at which a memory expired that was removed because of that. */
  expiredMs = 0;
  /** Called if a segment's file had to be erased, because a memory could not be overwritten in it. */
  onLost: (segment: AnySegment) => void = () => {};
  readonly #files = new Map<AnySegment, SegmentFile>();
  readonly #restored: StoredSegment[] = [];
  /** Memories that were removed from restored files since their manifests were written. */
  readonly #removedSince: number[] = [];
  /** Overwritings that have not ended. */
  readonly #overwritings = new Set<Promise<void>>();
  /** Files that hold a removed memory, and could be neither overwritten nor erased, and the segments that are lost with them. */
  readonly #unerased = new Map<SegmentFile, AnySegment | undefined>();
  /** Work on files that is under way, for `settled`. */
  readonly #work = new Set<Promise<unknown>>();
  #publishing: { readonly timer: NodeJS.Timeout; readonly sinceMs: number } | undefined;
  #isClosed = false;

  constructor(private readonly options: LogFilesOptions) {}

  /** Folder of the files; undefined if nothing is to be written. */
  get folder(): string | undefined {
    return this.options.folder;
  }

  has(segment: AnySegment): boolean {
    return this.#files.has(segment);
  }

  isWritten(segment: AnySegment): boolean {
    return this.#files.get(segment)?.isWritten ?? false;
  }

  /** Lists the segments that have a manifest, in the order of the log. */
  async find(): Promise<StoredSegment[]> {
    return this.folder === undefined ? [] : findSegments(this.folder, this.options.logId);
  }

  /** Takes over the file of a restored segment. */
  addRestored(segment: AnySegment, file: SegmentFile, found: StoredSegment): void {
    this.#files.set(segment, file);
    this.#restored.push(found);
    const { applied, end = applied, expiredMs, lived } = found.manifest;
    if (this.#restored.length === 1 || applied.sequence < this.applied.sequence) this.applied = applied;
    if (end.sequence > this.end.sequence) this.end = end;
    this.expiredMs = Math.max(this.expiredMs, expiredMs);
    for (const sequence of segment.removedSince(decodeBits(lived))) this.#removedSince.push(sequence);
  }

  /** Erases all files of the log but those that were kept; returns what the log must confirm of these. */
  async eraseOthers(): Promise<Omit<RestoredIndex, "upto">> {
    if (this.folder !== undefined) await eraseOthers(this.folder, this.#restored);
    const marks = this.#restored.flatMap(({ manifest: { applied, end } }) =>
      end ? [applied, end] : applied,
    );
    const { applied, expiredMs } = this;
    return { applied: applied.sequence, marks, removed: this.#removedSince, expiredMs };
  }

  /**
   * Writes a segment's file; from now on it is overwritten whenever the segment is. Rejects if that fails, and nothing
   * of it is left. The files of segments that it replaces are erased at the end: before, a crash would leave a gap,
   * which takes long to fill.
   */
  write(segment: AnySegment, file: SegmentFile, replaced: readonly AnySegment[] = []): Promise<void> {
    this.#files.set(segment, file);
    const writing = file
      .write()
      .then(() => this.#publish(segment, file))
      .then(() => this.#publishSoon())
      .catch(async (error) => {
        await this.#eraseInstead(file);
        throw error;
      })
      .finally(() => this.erase(replaced));
    return this.#track(writing).then(() => this.options.onWritten?.());
  }

  /**
   * Removes memories from segments of a part, and from those with a file that others have replaced; resolves when they
   * are overwritten in all files.
   */
  remove(part: IndexPart, segments: readonly AnySegment[], sequences: readonly number[]): Promise<void> {
    const withFiles = [...this.#files.keys()].filter((segment) => segment.part === part);
    const overwritten = new Map<AnySegment, Overwriting>();
    for (const segment of new Set([...segments, ...withFiles])) {
      const overwriting = { ranges: [], rows: [] };
      for (const sequence of sequences) segment.remove(sequence, overwriting);
      if (overwriting.ranges.length > 0 && this.has(segment)) overwritten.set(segment, overwriting);
    }
    return this.overwrite(overwritten);
  }

  /**
   * Overwrites what was removed. It waits for what was removed before as well: others may have begun to remove the same
   * memories, and nobody may be told that these are gone before they are.
   */
  async overwrite(overwritten: ReadonlyMap<AnySegment, Overwriting>): Promise<void> {
    const retried = [...this.#unerased].map(([file, lost]) => this.#eraseInstead(file, lost));
    for (const [segment, what] of overwritten) {
      const overwriting = this.#overwriteIn(segment, what).finally(() =>
        this.#overwritings.delete(overwriting),
      );
      this.#overwritings.add(overwriting);
    }
    await this.#track(Promise.all([...retried, ...this.#overwritings]));
    if (overwritten.size > 0) this.#publishSoon();
  }

  /** Erases the files of segments that others have replaced. */
  async erase(segments: readonly AnySegment[]): Promise<void> {
    const erasing = segments.map(async (segment) => {
      await this.#files.get(segment)?.erase();
      this.#files.delete(segment);
    });
    await this.#track(Promise.all(erasing));
  }

  /** Erases all, because they belong to another log. */
  async reset(): Promise<void> {
    this.applied = NONE;
    this.end = NONE;
    this.expiredMs = 0;
    await this.erase([...this.#files.keys()]);
  }

  /** Waits until nothing more is to be written. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  async close({ retainFiles }: { retainFiles: boolean }): Promise<void> {
    this.#isClosed = true;
    if (this.#publishing !== undefined) clearTimeout(this.#publishing.timer);
    if (retainFiles) this.#publishAll({ entriesMax: 0 });
    await this.settled();
    // Nobody reads these files again, so no delete would overwrite them.
    for (const file of this.#files.values()) if (!file.hasManifest) await file.erase();
  }

  async #overwriteIn(segment: AnySegment, overwriting: Overwriting): Promise<void> {
    const file = this.#files.get(segment);
    if (file === undefined) return;
    try {
      await file.overwrite(overwriting);
    } catch (error) {
      this.options.onTrouble(error);
      // No search needs a file before it is written.
      await this.#eraseInstead(file, file.isWritten ? segment : undefined);
    }
  }

  /** Erases a file. While that fails, no removal is answered, because the file may hold the memory; searches go on. */
  async #eraseInstead(file: SegmentFile, lost?: AnySegment): Promise<void> {
    for (const [segment, each] of this.#files) if (each === file) this.#files.delete(segment);
    this.#unerased.set(file, lost);
    try {
      await file.erase();
    } catch (error) {
      throw unavailable("an index file of this namespace could neither be overwritten nor erased", error);
    }
    // Another call may have erased it first.
    if (this.#unerased.delete(file) && lost !== undefined) this.onLost(lost);
  }

  /** Writes manifests that are out of date when nothing was overwritten for a moment, and after a minute at most. */
  #publishSoon(): void {
    if (this.#isClosed) return;
    const { quietMs = QUIET_MS } = this.options;
    const nowMs = performance.now();
    const sinceMs = this.#publishing?.sinceMs ?? nowMs;
    if (this.#publishing !== undefined) clearTimeout(this.#publishing.timer);
    const waitMs = Math.max(0, Math.min(quietMs, sinceMs + UNPUBLISHED_MS_MAX - nowMs));
    const timer = setTimeout(() => {
      this.#publishing = undefined;
      this.#publishAll();
    }, waitMs).unref();
    this.#publishing = { timer, sinceMs };
  }

  #publishAll({ entriesMax = UNPUBLISHED_ENTRIES_MAX } = {}): void {
    for (const [segment, file] of this.#files) {
      const lacking = this.applied.sequence - (file.applied ?? Number.NEGATIVE_INFINITY);
      if (lacking <= entriesMax || !file.isWritten) continue;
      this.#track(this.#publish(segment, file)).catch((error) => this.options.onTrouble(error));
    }
  }

  /**
   * Writes a manifest of this moment, once all files have lost what was removed so far: it says that all of them are
   * as the log was then.
   */
  async #publish(segment: AnySegment, file: SegmentFile): Promise<void> {
    if (this.#files.get(segment) !== file) return;
    const { part, range, rows, graph } = segment;
    const lived = encodeBits(segment.arrays.live as Uint32Array);
    const { logId } = this.options;
    const { applied, expiredMs } = this;
    const end = this.end.sequence > applied.sequence ? this.end : undefined;
    const manifest = { ...range, part, rows, graph, logId, applied, end, expiredMs, lived };
    file.applied = applied.sequence;
    try {
      await Promise.all(this.#overwritings);
      if (this.#unerased.size > 0) file.applied = undefined;
      else await file.publish(manifest);
    } catch (error) {
      file.applied = undefined;
      throw error;
    }
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const working = work.finally(() => this.#work.delete(working));
    this.#work.add(working);
    return working;
  }
}
