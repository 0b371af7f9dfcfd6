import type { Hit, IndexRow, RecallMeasured, RowCounts, VectorQuery } from "../../memory/ports/index.js";
import type { LogFiles } from "../log-files.js";
import type { Found } from "../segment-file.js";

/** The vectors of one log's memories. */
export interface VectorPart {
  /** Number of memories in it. */
  readonly size: number;
  readonly bytes: number;
  readonly rowCounts: RowCounts;
  readonly waiting: number;
  readonly error: number;
  readonly isExact: boolean;
  /**
   * Fills the empty part from those of its files that are whole and follow each other; returns the number of the last
   * entry that they cover.
   */
  restore(found: readonly Found[]): Promise<number>;
  reset(): Promise<void>;
  fits(vectors: readonly Float32Array[]): boolean;
  add(rows: readonly VectorRow[]): Promise<void>;
  /** Removes memories: no search that begins after the call finds them; resolves when they are overwritten in files. */
  remove(sequences: readonly number[]): Promise<void>;
  search(query: VectorQuery): Promise<Hit[]>;
  close(): Promise<void>;
}

export type VectorRow = Omit<IndexRow, "memory"> & { readonly vectors: readonly Float32Array[] };

/** The vectors of all logs. */
export interface Vectors {
  /** Opens those of a log; without a folder for files, they are exact whatever their number. */
  open(logId: string, files: LogFiles): VectorPart;
  measureRecall(found: readonly Found[]): Promise<RecallMeasured>;
}
