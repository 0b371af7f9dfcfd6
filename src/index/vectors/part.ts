import type { Hit, IndexRow, Mark, RowCounts, VectorQuery } from "../../memory/ports/index.js";

/** The vectors of one log's memories. */
export interface VectorPart {
  /** Number of memories in it. */
  readonly size: number;
  readonly bytes: number;
  readonly rowCounts: RowCounts;
  readonly waiting: number;
  readonly error: number;
  readonly isExact: boolean;
  onLost: () => void;
  restore(): Promise<RestoredVectors | undefined>;
  reset(): Promise<void>;
  fits(vectors: readonly Float32Array[]): boolean;
  add(rows: readonly VectorRow[]): Promise<void>;
  /** Removes memories: no search that begins after the call finds them; resolves when they are overwritten in files. */
  remove(sequences: readonly number[]): Promise<void>;
  search(query: VectorQuery): Promise<Hit[]>;
  close(): Promise<void>;
}

export type VectorRow = Omit<IndexRow, "memory"> & { readonly vectors: readonly Float32Array[] };

export interface RestoredVectors extends Mark {
  /** Memories removed after the files were written: the log must not have them any more. */
  readonly wiped: readonly number[];
}
