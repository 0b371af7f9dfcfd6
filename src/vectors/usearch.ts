import type { Vectors } from "../memory/ports/vectors.js";
import { snapshotsIn } from "./snapshot/folder.js";
import { Shelf } from "./snapshot/shelf.js";
import { findSnapshot } from "./snapshot/snapshot.js";
import { UsearchIndex } from "./usearch-index.js";

/**
 * Number of vectors up to which every search is exact. Measured: an exact scan of 20,000 × 384 takes 1
 * ms, a search of the graph 0.4 ms at any size.
 */
const EXACT_ROWS_MAX = 20_000;

export interface UsearchOptions {
  /**
   * Number of dimensions of a log's vectors, or undefined if its model is unknown and it cannot be
   * opened.
   */
  dimensionsOf(logId: string): number | undefined;
  /** Folder of the graphs' snapshots, and their total size limit: the least recently used go first. */
  readonly snapshotsDir: string;
  readonly snapshotBytesMax?: number;
  readonly exactRowsMax?: number;
}

/** Opens vector indexes by USearch: exact while small, a graph (HNSW) when larger. */
export function openUsearch({
  dimensionsOf,
  snapshotsDir,
  snapshotBytesMax = Number.MAX_SAFE_INTEGER,
  exactRowsMax = EXACT_ROWS_MAX,
}: UsearchOptions): Vectors {
  const snapshotOf = (logId: string) => {
    return {
      folder: snapshotsDir,
      logId,
      dimensions: dimensionsOf(logId) ?? 0,
    };
  };
  const shelf = new Shelf(snapshotsDir, snapshotBytesMax);
  return {
    open: (logId) => new UsearchIndex(snapshotOf(logId), { exactRowsMax, shelf }),
    discard: (logId) => shelf.erase(logId),
    wipe: (logId, sequences) => shelf.wipe(logId, sequences),
    holds: (logId, sequences) => shelf.holds(logId, sequences),
    kept: () => snapshotsIn(snapshotsDir),
    markOf: async (logId) => findSnapshot(snapshotOf(logId))?.manifest.mark,
  };
}
