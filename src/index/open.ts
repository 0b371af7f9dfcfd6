import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../concurrency/clock.js";
import { inTimeSlices } from "../concurrency/time-slices.js";
import { unavailable } from "../errors.js";
import type { Among } from "../memory/ports/among.js";
import { type EventOrder, firstByEventTime, type Happened } from "../memory/ports/event-order.js";
import type {
  Index,
  Indexes,
  IndexFiles,
  IndexQuery,
  Mark,
  RecallMeasured,
  Selecting,
  Selection,
  WeighedQuery,
  WordHit,
  WordsFound,
} from "../memory/ports/index.js";
import { selectRows } from "./fields/select-rows.js";
import { LogIndex } from "./log-index.js";
import type { Segment } from "./segment.js";
import { eraseOthers, type Filed, findSegments, namesIn, rowsIn, SegmentFile } from "./segment-file.js";
import { TextIndex } from "./text-index.js";
import type { Vectors } from "./vectors/usearch.js";
import { findWords } from "./words/find.js";
import { sampleOf } from "./words/sample.js";
import { scoreWords } from "./words/score.js";

export interface IndexesOptions {
  /** The vectors, which have files of their own. */
  readonly vectors: Vectors;
  /** Folder of the files, one in it for each log; nothing else may be there. */
  readonly folder: string;
  readonly clock: Pick<Clock, "yield">;
  /** Bytes of a segment from which on it is written to a file. */
  readonly fileBytesMin?: number | undefined;
  /** Bytes of segments that are merged without letting other work run. */
  readonly mergedAtOnceBytes?: number | undefined;
  /** Time without an overwriting after which the files' manifests are written again. */
  readonly quietMs?: number | undefined;
  /** Called with failures that no call waits for. */
  onTrouble(error: unknown): void;
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
    await eraseOthers(join(folder, logId), await findSegments(join(folder, logId), logId));
  }
}

class SegmentIndexes implements Indexes {
  readonly #open = new Map<string, LogIndex>();

  constructor(private readonly options: IndexesOptions) {}

  open(logId: string): Index {
    const files = { folder: join(this.options.folder, logId), logId };
    const index = new LogIndex({
      vectors: this.options.vectors.open(logId),
      text: this.#textIndex(files),
      onClosed: (index) => {
        if (this.#open.get(logId) === index) this.#open.delete(logId);
      },
    });
    this.#open.set(logId, index);
    return index;
  }

  openUnsaved(logId: string): Index {
    return new LogIndex({ vectors: this.options.vectors.openInMemory(logId), text: this.#textIndex() });
  }

  #textIndex(files?: { folder: string; logId: string }): TextIndex {
    const { clock, ...options } = this.options;
    return new TextIndex({ ...options, files, yieldNow: () => clock.yield() });
  }

  async discard(logId: string): Promise<void> {
    await this.#open.get(logId)?.reset();
    await this.options.vectors.discard(logId);
    await rm(join(this.options.folder, logId), { recursive: true, force: true });
  }

  async wipe(logId: string, sequences: readonly number[]): Promise<void> {
    const open = this.#open.get(logId);
    if (open !== undefined) return open.remove(sequences);
    await this.options.vectors.wipe(logId, sequences);
    // To be built again from the log costs less than it does to read a file, for a namespace that nobody uses.
    const folder = join(this.options.folder, logId);
    for (const { path, manifest } of await findSegments(folder, logId)) {
      const { after, upto } = manifest;
      if (!sequences.some((sequence) => sequence > after && sequence <= upto)) continue;
      await SegmentFile.eraseAt(path).catch((error) => {
        throw unavailable("an index file of this namespace could not be erased", error);
      });
    }
  }

  async holds(logId: string, sequences: readonly number[]): Promise<number[]> {
    const held = new Set(await this.options.vectors.holds(logId, sequences));
    for (const found of await findSegments(join(this.options.folder, logId), logId)) {
      const read = await SegmentFile.read(found, () => this.options.clock.yield());
      for (const sequence of sequences) if (read?.segment.has(sequence)) held.add(sequence);
    }
    return [...held];
  }

  async stored(): Promise<string[]> {
    const { folder } = this.options;
    const logIds = new Set(await this.options.vectors.stored());
    for (const name of await namesIn(folder)) {
      if ((await stat(join(folder, name))).isDirectory()) logIds.add(name);
    }
    return [...logIds];
  }

  async marksOf(logId: string): Promise<readonly Mark[]> {
    const found = await findSegments(join(this.options.folder, logId), logId);
    const ofVectors = await this.options.vectors.markOf(logId);
    const marks = found.map(({ manifest }) => manifest.applied);
    return ofVectors === undefined ? marks : [...marks, ofVectors];
  }

  measureRecall(logId: string): Promise<RecallMeasured> {
    return this.options.vectors.measureRecall(logId);
  }

  async measureFiles(logId: string): Promise<IndexFiles> {
    const folder = join(this.options.folder, logId);
    const vectors = await this.options.vectors.measureFiles(logId);
    let { files, bytes } = vectors;
    let [upto, rows, removed] = [0, 0, 0];
    for (const segment of await filedIn(folder, logId)) {
      if (segment.after === upto) upto = segment.upto;
      rows += segment.rows;
      removed += segment.removed;
    }
    for (const name of await namesIn(folder)) {
      // It may have been erased meanwhile.
      const stats = await stat(join(folder, name)).catch(() => undefined);
      if (stats === undefined) continue;
      files++;
      bytes += stats.size;
    }
    return { files, bytes, parts: { vectors, words: { upto, rows, removed } } };
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
    const times = (await segmentsOf(indexes)).map(({ times }) => times);
    return inTimeSlices(firstByEventTime(times, among, order), this.options.clock);
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
    const selections: Selection[] = [];
    for (const index of indexes) {
      selections.push(
        await inTimeSlices(selectRows(await segmentsOf([index]), condition, ids), this.options.clock),
      );
    }
    const [first, ...others] = selections;
    if (first === undefined) throw new Error("no index was asked");
    return others.reduce((all, selection) => all.with([...selection.sequences]), first);
  }
}

async function filedIn(folder: string, logId: string): Promise<Filed[]> {
  const filed: Filed[] = [];
  for (const found of await findSegments(folder, logId)) {
    const counted = await rowsIn(found);
    const { after, upto } = found.manifest;
    if (counted !== undefined) filed.push({ after, upto, ...counted });
  }
  return filed;
}

async function segmentsOf(indexes: readonly Index[]): Promise<readonly Segment[]> {
  const all: Segment[] = [];
  for (const index of indexes) {
    if (!(index instanceof LogIndex)) throw new Error("an index of another kind was asked");
    all.push(...(await index.segments()));
  }
  return all;
}
