import type { Clock } from "../../concurrency/clock.js";
import { serialQueue } from "../../concurrency/serial-queue.js";
import { NO_TIMINGS } from "../../memory/ports/step-timer.js";
import type { LogFiles } from "../log-files.js";
import type { StoredSegment } from "../segment-file.js";
import { type IndexThreads, openIndexThread } from "./index-thread.js";
import { type IndexOptions, readWhole, UsearchIndex, type VectorPart } from "./usearch-index.js";

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
/** Bytes of sealed vectors that a search with a filter may compare: it takes about 2 ms, as long as one in as many graphs. */
const COMPARED_BYTES_MAX = 50_331_648;
/**
 * Share of the memory for indexes up to which vectors are compared: a namespace that fits into it before its first recall
 * must fit when its vectors are in memory for that.
 */
const COMPARED_SHARE = 1 / 8;
/** Share of the memory for indexes that vectors of one may take which wait for sealing. */
const BACKLOG_SHARE = 1 / 2;
/** Share of a core that sealing few memories may take. */
const SEALING_SHARE = 0.1;

export interface UsearchOptions
  extends Partial<Omit<IndexOptions, keyof IndexThreads | "dimensions" | "files">> {
  /** Memory for all indexes, each with all its parts. */
  readonly memoryBytesMax?: number;
  /** Number of dimensions of a log's vectors, or undefined if its model is unknown and it cannot be opened. */
  dimensionsOf(logId: string): number | undefined;
  readonly clock: Pick<Clock, "yield">;
}

export type Usearch = ReturnType<typeof openUsearch>;

/** The vectors of all logs. */
export type Vectors = Pick<Usearch, "isWhole"> & { open(logId: string, files: LogFiles): VectorPart };

/** Opens vector indexes by USearch: the newest memories exact, all others in graphs (HNSW). */
export function openUsearch({ dimensionsOf, memoryBytesMax = 2 ** 32, ...options }: UsearchOptions) {
  const thread = openIndexThread({ background: false });
  const reader = openIndexThread({ background: false });
  const background = openIndexThread({ background: true });
  const shared = {
    thread,
    reader,
    background,
    enqueueBuild: serialQueue(),
    exactRowsMax: EXACT_ROWS_MAX,
    tailRowsMax: TAIL_ROWS_MAX,
    segmentRowsMax: SEGMENT_ROWS_MAX,
    comparedBytesMax: Math.min(COMPARED_BYTES_MAX, COMPARED_SHARE * memoryBytesMax),
    backlogBytesMax: BACKLOG_SHARE * memoryBytesMax,
    sealingShare: SEALING_SHARE,
    timer: NO_TIMINGS,
    onTrouble: () => {},
    onChecked: () => {},
    ...options,
  };
  return {
    /** Opens those of a log; without a folder for files, they are exact whatever their number. */
    open: (logId: string, files: LogFiles) =>
      new UsearchIndex({ ...shared, dimensions: dimensionsOf(logId) ?? 0, files }),
    /** True if the files of a segment are whole. */
    isWhole: async (found: StoredSegment): Promise<boolean> =>
      found.manifest.graph !== undefined && (await readWhole(found, shared)) !== undefined,
    /** Ends the threads; no index may be open. */
    close: async () => {
      await background.close();
      await reader.close();
      await thread.close();
    },
  };
}
