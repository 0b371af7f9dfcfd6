import type { FilesMeasured, Mark, RecallMeasured } from "../../memory/ports/index.js";
import { NO_TIMINGS, type SharedStep, type StepTimer } from "../../memory/ports/step-timer.js";
import { EXPANSION_FIRST, expansionIn } from "./expansion-tuner.js";
import { InMemoryIndex } from "./in-memory-index.js";
import { openIndexThread } from "./index-thread.js";
import type { VectorPart } from "./part.js";
import { Sealer } from "./sealer.js";
import { IndexFiles } from "./snapshot/index-files.js";
import { findSnapshot } from "./snapshot/snapshot.js";
import { UsearchIndex } from "./usearch-index.js";

/** Number of vectors up to which a search compares all: 20,000 x 256 take about 1 ms. */
const EXACT_ROWS_MAX = 20_480;
/**
 * Number of the newest vectors of a larger index that every search compares. Measured: 1,024 x 384 take 0.05 to 0.2 ms, and a
 * search of a graph of 50,000 takes 0.15 to 0.5 ms.
 */
const TAIL_ROWS_MAX = 1024;
/**
 * Number of vectors of a segment. Opening its graph holds the main thread for 2 to 5 ms, and fewer segments
 * are quicker to search.
 */
const SEGMENT_ROWS_MAX = 49_152;
/** Share of a core that sealing few memories may take. */
const SEALING_SHARE = 0.1;
/** Bytes of an index's vectors that wait for sealing: an exact search of as many takes about 0.2 s. */
const BACKLOG_BYTES_MAX = 2 ** 31;

export interface UsearchOptions {
  /**
   * Number of dimensions of a log's vectors, or undefined if its model is unknown and it cannot be
   * opened.
   */
  dimensionsOf(logId: string): number | undefined;
  /** Folder of the segments' files. */
  readonly snapshotsDir: string;
  /** Limit of the size of the files of closed indexes: those of the least recently used go first. */
  readonly snapshotBytesMax?: number;
  readonly exactRowsMax?: number;
  readonly tailRowsMax?: number;
  readonly segmentRowsMax?: number;
  readonly backlogBytesMax?: number;
  readonly sealingShare?: number;
  readonly timer?: StepTimer<SharedStep>;
  /** Called when a segment cannot be written or searched; it is tried again. */
  readonly onTrouble?: (error: unknown) => void;
  /** Called when a served search was compared with an exact one. */
  readonly onChecked?: (checked: RecallMeasured) => void;
}

export interface OpenIndex extends VectorPart {
  /** Waits until all that is due is sealed in files. */
  settled(): Promise<void>;
}

/** The vectors of all logs, and their files. */
export interface Vectors {
  open(logId: string): VectorPart;
  /** Opens an empty index without files, which is exact whatever its size. */
  openInMemory(logId: string): VectorPart;
  discard(logId: string): Promise<void>;
  wipe(logId: string, sequences: readonly number[]): Promise<void>;
  holds(logId: string, sequences: readonly number[]): Promise<number[]>;
  stored(): Promise<string[]>;
  measureRecall(logId: string): Promise<RecallMeasured>;
  /** Reads the log position up to which an index's files are whole; undefined if they are damaged or missing. */
  markOf(logId: string): Promise<Mark | undefined>;
  measureFiles(logId: string): Promise<FilesMeasured & FileSizes>;
}

export interface FileSizes {
  readonly files: number;
  readonly bytes: number;
}

export interface Usearch extends Vectors {
  open(logId: string): OpenIndex;
  /** Ends the threads; no index may be open. */
  close(): Promise<void>;
}

/** Opens vector indexes by USearch: the newest memories exact, all others in graphs (HNSW). */
export function openUsearch({
  dimensionsOf,
  snapshotsDir: folder,
  snapshotBytesMax = Number.MAX_SAFE_INTEGER,
  ...options
}: UsearchOptions): Usearch {
  const files = new IndexFiles({ folder, bytesMax: snapshotBytesMax });
  const thread = openIndexThread({ background: false });
  const background = openIndexThread({ background: true });
  const sealer = new Sealer(files, background);
  const indexOf = (logId: string) => ({ folder, logId, dimensions: dimensionsOf(logId) ?? 0 });
  const shared = {
    files,
    sealer,
    thread,
    background,
    exactRowsMax: EXACT_ROWS_MAX,
    tailRowsMax: TAIL_ROWS_MAX,
    segmentRowsMax: SEGMENT_ROWS_MAX,
    backlogBytesMax: BACKLOG_BYTES_MAX,
    sealingShare: SEALING_SHARE,
    timer: NO_TIMINGS,
    onTrouble: () => {},
    onChecked: () => {},
    ...options,
  };
  return {
    open: (logId) => new UsearchIndex(indexOf(logId), shared),
    openInMemory: (logId) => new InMemoryIndex(dimensionsOf(logId) ?? 0),
    discard: (logId) => files.erase(logId),
    wipe: (logId, sequences) => files.wipe(logId, sequences),
    holds: (logId, sequences) => files.holds(logId, sequences),
    stored: () => files.logIds(),
    markOf: (logId) => lastMark(files, indexOf(logId)),
    measureFiles: (logId) => files.measure(logId),
    measureRecall: async (logId) => {
      let [found, compared] = [0, 0];
      const segments = await files.segmentsOf(logId);
      const expansion = expansionIn(EXPANSION_FIRST, segments.length);
      for (const segment of segments) {
        const measured = await thread.call("measure", { ref: { ...indexOf(logId), segment }, expansion });
        found += measured.found;
        compared += measured.compared;
      }
      return { found, compared };
    },
    close: async () => {
      await background.close();
      await thread.close();
    },
  };
}

/** Reads the position up to which an index's files are whole. */
async function lastMark(
  files: IndexFiles,
  index: { folder: string; logId: string; dimensions: number },
): Promise<Mark | undefined> {
  let last: Mark | undefined;
  for (const segment of await files.segmentsOf(index.logId)) {
    const { manifest } = findSnapshot({ ...index, segment }) ?? {};
    if (manifest?.after.sequence !== (last?.sequence ?? 0)) break;
    last = manifest.mark;
  }
  return last;
}
