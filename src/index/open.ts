import { readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { serialQueue } from "../concurrency/serial-queue.js";
import { inTimeSlices } from "../concurrency/time-slices.js";
import { unavailable } from "../errors.js";
import type {
  Among,
  EventOrder,
  Happened,
  Index,
  Indexes,
  IndexFiles,
  IndexQuery,
  Mark,
  Selecting,
  Selection,
  WeighedQuery,
  WordHit,
  WordsFound,
} from "../memory/ports/index.js";
import { firstByEventTime } from "./event-order.js";
import { selectRows } from "./fields/select-rows.js";
import { LogFiles, type LogFilesOptions } from "./log-files.js";
import { LogIndex, type LogIndexOptions } from "./log-index.js";
import { Segment } from "./segment.js";
import {
  type AnySegment,
  eraseOthers,
  findSegments,
  ifMissing,
  namesIn,
  removedIn,
  SegmentFile,
  type StoredSegment,
} from "./segment-file.js";
import { removeFrom, type SegmentArrays } from "./vectors/keys.js";
import type { Vectors } from "./vectors/usearch.js";
import { findWords } from "./words/find.js";
import { sampleOf } from "./words/sample.js";
import { scoreWords } from "./words/score.js";

export interface IndexesOptions
  extends Omit<LogIndexOptions, "vectors" | "files" | "onClosed">,
    Pick<LogFilesOptions, "quietMs"> {
  readonly vectors: Vectors;
  /** Folder of the files, one in it for each log; nothing else may be there. */
  readonly folder: string;
  /** Limit of the size of the files of closed indexes: those of the least recently used go first. */
  readonly closedBytesMax?: number | undefined;
}

/** Opens the indexes of logs. Nothing is read before one is restored. */
export function openIndexes(options: IndexesOptions): Indexes {
  return new SegmentIndexes(options);
}

/**
 * Erases all files that are not read, such as drafts that a crash left: they may hold what is deleted later. No index
 * may be open.
 */
export async function eraseUnreadable(folder: string): Promise<void> {
  for (const logId of await namesIn(folder)) {
    const [path, found] = [join(folder, logId), await findSegments(join(folder, logId), logId)];
    // Without a readable segment, all goes: also a file that stands where the log's folder must be.
    await (found.length > 0 ? eraseOthers(path, found) : rm(path, { recursive: true, force: true }));
  }
}

class SegmentIndexes implements Indexes {
  readonly #open = new Map<string, LogIndex>();
  /** Does work on the files of a log that is not open, or not restored yet, after all earlier such work. */
  readonly #enqueue = serialQueue();

  constructor(private readonly options: IndexesOptions) {}

  open(logId: string): Index {
    const index = this.#openWith(logId, this.#folderOf(logId));
    const restore = index.restore.bind(index);
    index.restore = () =>
      this.#enqueue(async () => {
        const now = new Date();
        // The files of logs that were used longest ago are erased first. Without any, there is nothing to note.
        await utimes(this.#folderOf(logId), now, now).catch(() => {});
        return restore();
      }, logId);
    this.#open.set(logId, index);
    return index;
  }

  openUnsaved(logId: string): Index {
    return this.#openWith(logId, undefined);
  }

  #openWith(logId: string, folder: string | undefined): LogIndex {
    const { options } = this;
    const onWritten = () => void this.#evict().catch(options.onTrouble);
    const files = new LogFiles({ ...options, folder, logId, onWritten });
    const onClosed = (index: LogIndex) => {
      if (this.#open.get(logId) === index) this.#open.delete(logId);
    };
    return new LogIndex({ ...options, vectors: options.vectors.open(logId, files), files, onClosed });
  }

  async discard(logId: string): Promise<void> {
    await this.#open.get(logId)?.reset();
    await rm(this.#folderOf(logId), { recursive: true, force: true });
  }

  wipe(logId: string, sequences: readonly number[]): Promise<void> {
    const removeHere = () => this.#restored(logId)?.remove(sequences);
    // It may be restored while this waits in the queue. Then only it may write to its files.
    return (
      removeHere() ?? this.#enqueue(async () => removeHere() ?? this.#wipeFiles(logId, sequences), logId)
    );
  }

  async holds(logId: string, sequences: readonly number[]): Promise<number[]> {
    const held = new Set<number>();
    for (const found of await this.#findSegments(logId)) {
      const segment = await this.#read(found);
      const overwriting = { ranges: [], rows: [] };
      for (const each of sequences) if (segment?.remove(each, overwriting) === true) held.add(each);
    }
    return [...held];
  }

  async stored(): Promise<string[]> {
    const all = await readdir(this.options.folder, { withFileTypes: true }).catch(ifMissing([]));
    return all.filter((each) => each.isDirectory()).map(({ name }) => name);
  }

  async marksOf(logId: string): Promise<readonly Mark[]> {
    return (await this.#findSegments(logId)).map(({ manifest }) => manifest.applied);
  }

  async countUnusable(logId: string): Promise<number> {
    const names = await namesIn(this.#folderOf(logId));
    const all = await this.#findSegments(logId);
    let unusable = names.filter((name) => name.endsWith(".json")).length - all.length;
    for (const found of all) {
      const isVectors = found.manifest.part === "vectors";
      const isWhole = isVectors
        ? await this.options.vectors.isWhole(found)
        : (await this.#read(found)) !== undefined;
      if (!isWhole) unusable++;
    }
    return unusable;
  }

  async measureFiles(logId: string): Promise<IndexFiles> {
    const none = { upto: 0, rows: 0, removed: 0 };
    const parts = { vectors: { ...none }, words: { ...none } };
    for (const found of await this.#findSegments(logId)) {
      const removed = await removedIn(found);
      if (removed === undefined) continue;
      const { part, after, upto, rows } = found.manifest;
      const sum = parts[part];
      if (after === sum.upto) sum.upto = upto;
      sum.rows += rows;
      sum.removed += removed;
    }
    return { ...(await sizeOf(this.#folderOf(logId))), parts };
  }

  async searchWords(indexes: readonly Index[], query: IndexQuery): Promise<WordsFound> {
    const segments = await segmentsOf(indexes);
    return inTimeSlices(findWords(segments, query), this.options.clock);
  }

  async scoreWords(
    indexes: readonly Index[],
    query: WeighedQuery,
    sequences: readonly number[],
  ): Promise<WordHit[]> {
    return inTimeSlices(scoreWords(await segmentsOf(indexes), query, sequences), this.options.clock);
  }

  async sample(indexes: readonly Index[]): Promise<readonly number[]> {
    return inTimeSlices(sampleOf(await segmentsOf(indexes)), this.options.clock);
  }

  async inEventOrder(indexes: readonly Index[], among: Among, order: EventOrder): Promise<Happened[]> {
    return inTimeSlices(firstByEventTime(await segmentsOf(indexes), among, order), this.options.clock);
  }

  async eventTimesOf(indexes: readonly Index[], sequences: readonly number[]): Promise<Map<number, number>> {
    const segments = await segmentsOf(indexes);
    return new Map(
      sequences.flatMap((sequence) => {
        const times = segments.map((segment) => segment.eventAtMsOf(sequence));
        const atMs = times.find((each) => each !== undefined);
        return atMs === undefined ? [] : [[sequence, atMs] as const];
      }),
    );
  }

  async select(indexes: readonly Index[], { condition, ids }: Selecting): Promise<Selection> {
    // Several indexes have memories of the same range, but a selection is in the order of the log.
    let all: Selection | undefined;
    for (const index of indexes) {
      const segments = await segmentsOf([index]);
      const own = await inTimeSlices(selectRows(segments, condition, ids()), this.options.clock);
      all = all === undefined ? own : all.with([...own.sequences]);
    }
    if (all === undefined) throw new Error("no index was given");
    return all;
  }

  #folderOf(logId: string): string {
    return join(this.options.folder, logId);
  }

  /** The open index of a log, once its files are known. */
  #restored(logId: string): LogIndex | undefined {
    const open = this.#open.get(logId);
    return open?.isRestored === true ? open : undefined;
  }

  #findSegments(logId: string): Promise<StoredSegment[]> {
    return findSegments(this.#folderOf(logId), logId);
  }

  /** Removes memories from the files of an index that is not open. Any of those that are not read may hold them, too. */
  async #wipeFiles(logId: string, sequences: readonly number[]): Promise<void> {
    const all = await this.#findSegments(logId);
    await eraseOthers(this.#folderOf(logId), all).catch(throwUnerased);
    for (const found of all) {
      const { after, upto } = found.manifest;
      const inside = sequences.filter((sequence) => sequence > after && sequence <= upto);
      if (inside.length > 0) await this.#wipeIn(found, inside);
    }
  }

  /**
   * Overwrites vectors in a file. One of words and fields is erased: to be built again from the log costs less than it
   * does to read it, for a namespace that nobody uses.
   */
  async #wipeIn(found: StoredSegment, sequences: readonly number[]): Promise<void> {
    if (found.manifest.part === "vectors") {
      try {
        const segment = await this.#read(found);
        if (segment === undefined) throw new Error("an index file is damaged");
        const overwriting = { ranges: [], rows: [] };
        for (const sequence of sequences) segment.remove(sequence, overwriting);
        return overwriting.rows.length > 0 ? await segment.file.overwrite(overwriting) : undefined;
      } catch (error) {
        this.options.onTrouble(error);
      }
    }
    await SegmentFile.eraseAt(found.path).catch(throwUnerased);
  }

  /** Reads a segment of a log that is not open; undefined if its file is damaged. */
  async #read(
    found: StoredSegment,
  ): Promise<(Pick<AnySegment, "remove"> & { readonly file: SegmentFile }) | undefined> {
    const read = await SegmentFile.read(found, this.options.clock);
    if (read === undefined) return undefined;
    const { arrays, file } = read;
    if (found.manifest.part === "words") {
      const segment = Segment.from(found.manifest, arrays);
      return { file, remove: segment.remove.bind(segment) };
    }
    const remove: AnySegment["remove"] = (sequence, overwriting) =>
      removeFrom(arrays as SegmentArrays, sequence, overwriting).length > 0;
    return { file, remove };
  }

  /** Erases the files of the logs used least recently until the rest fits; those of open indexes are searched. */
  async #evict(): Promise<void> {
    const { folder, closedBytesMax } = this.options;
    if (closedBytesMax === undefined) return;
    const uses: { logId: string; bytes: number; usedMs: number }[] = [];
    for (const logId of await this.stored()) {
      const { bytes } = await sizeOf(join(folder, logId));
      const usedMs = (await stat(join(folder, logId)).catch(() => undefined))?.mtimeMs ?? 0;
      uses.push({ logId, bytes, usedMs });
    }
    let bytes = uses.reduce((sum, use) => sum + use.bytes, 0);
    for (const { logId, bytes: own } of uses.sort((a, b) => a.usedMs - b.usedMs)) {
      if (bytes <= closedBytesMax) return;
      if (this.#open.has(logId)) continue;
      await this.#enqueue(() => rm(join(folder, logId), { recursive: true, force: true }), logId);
      bytes -= own;
    }
  }
}

/** Throws the error of a removal whose files could not be erased: it must not be answered as done. */
function throwUnerased(error: unknown): never {
  throw unavailable("an index file of this namespace could not be erased", error);
}

/** Number and size of the files in a folder. */
async function sizeOf(folder: string): Promise<{ files: number; bytes: number }> {
  let [files, bytes] = [0, 0];
  for (const name of await namesIn(folder)) {
    // It may have been erased meanwhile.
    const stats = await stat(join(folder, name)).catch(() => undefined);
    if (stats === undefined) continue;
    files++;
    bytes += stats.size;
  }
  return { files, bytes };
}

async function segmentsOf(indexes: readonly Index[]): Promise<readonly Segment[]> {
  const all: Segment[] = [];
  for (const index of indexes) {
    if (!(index instanceof LogIndex)) throw new Error("an index of another kind was given");
    all.push(...(await index.segments()));
  }
  return all;
}
