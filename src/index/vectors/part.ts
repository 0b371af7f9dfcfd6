import type { Hit, IndexRow, RecallMeasured, RowCounts, VectorQuery } from "../../memory/ports/index.js";
import type { LogFiles } from "../log-files.js";
import type { Found } from "../segment-file.js";
import type { RestoredFiles } from "../text-index.js";

/** The vectors of one log's memories. */
export interface VectorPart {
  /** Number of memories in it. */
  readonly size: number;
  readonly bytes: number;
  readonly rowCounts: RowCounts;
  readonly waiting: number;
  readonly error: number;
  readonly isExact: boolean;
  /** Fills the empty part from those of its files that are whole and follow each other; returns them. */
  restore(found: readonly Found[]): Promise<RestoredFiles>;
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
  /** Opens those of a log; without files, they are exact whatever their number. */
  open(logId: string, files?: LogFiles): VectorPart;
  /** Overwrites memories in a segment of a log that is not open; throws if these are damaged. */
  wipe(found: Found, sequences: readonly number[]): Promise<void>;
  /** Those of these memories whose vectors are in some files. */
  holds(found: Found, sequences: readonly number[]): Promise<number[]>;
  measureRecall(found: readonly Found[]): Promise<RecallMeasured>;
}
