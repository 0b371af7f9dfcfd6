/** Maximum number of an index's vectors that one recall examines, for all windows of its query together. */
export const SEARCH_DEPTH_MAX = 32_768;

/** The port to the vector indexes. An index is derived state: it may vanish, and is rebuilt from the log. */
export interface Vectors {
  /** Opens the index of one log, which is empty until it is restored or added to. */
  open(logId: string): VectorIndex;
  /**
   * Opens an empty index for vectors of one log that has no files, and is exact whatever its size: nothing is restored,
   * `wipe` and `holds` do not know it, and all of its bytes are in memory.
   */
  openInMemory(logId: string): VectorIndex;
  /** Erases the files of an index. */
  discard(logId: string): Promise<void>;
  /**
   * Removes these memories' vectors from the files of an index, whether it is open or not. Unknown numbers
   * are ignored.
   *
   * @throws MemoryError `unavailable`
   */
  wipe(logId: string, sequences: readonly number[]): Promise<void>;
  /** Returns those of these memories whose vectors are in the files of the index. */
  holds(logId: string, sequences: readonly number[]): Promise<number[]>;
  /** Lists the logs whose indexes have files. */
  stored(): Promise<string[]>;
  /**
   * Measures what searches of an index's files find: how many of the vectors nearest to some stored ones are
   * among those found, no more broadly than searches are at first.
   */
  measureRecall(logId: string): Promise<RecallMeasured>;
  /** Reads the log position up to which an index's files are whole; undefined if they are damaged or missing. */
  markOf(logId: string): Promise<Mark | undefined>;
  /** Measures the files of an index, open or not, without checking that they are whole. */
  measureFiles(logId: string): Promise<FilesMeasured>;
}

export interface VectorIndex {
  /** Number of memories in it. */
  readonly size: number;
  /** Approximate size in memory, in bytes. */
  readonly bytes: number;
  /** Number of its vectors that are not in files, and of those that were removed. */
  readonly rowCounts: RowCounts;
  /** Number of searches that wait for a thread. */
  readonly waiting: number;
  /** Bound of the error of a hit's similarity. */
  readonly error: number;
  /** True if a search without a bound of its depth misses none of the nearest. */
  readonly isExact: boolean;
  /** Called if some of its files had to be erased, because a vector could not be overwritten in them. */
  onLost: () => void;
  /** Fills the empty index from its files; undefined if it has none that can be trusted. */
  restore(): Promise<Restored | undefined>;
  /** Empties the index, because its files belong to another log. */
  reset(): Promise<void>;
  /** True if it can hold these vectors of one memory: each of the right length, and finite. */
  fits(vectors: readonly Float32Array[]): boolean;
  /**
   * Adds memories under their log numbers, which grow; a search that begins after the call sees them. The
   * promise resolves when there is room for more. Throws if a vector does not fit.
   */
  add(rows: readonly VectorRow[]): Promise<void>;
  /**
   * Removes memories; resolves when no search finds them. Their vectors are overwritten soon after, in memory
   * and in files; `Vectors.wipe` waits for the latter. Unknown numbers are ignored.
   */
  remove(sequences: readonly number[]): Promise<void>;
  /**
   * Finds the vectors nearest to one, best first: a few of each of the `limit` nearest memories. It examines
   * no more than the `depthMax` nearest vectors, and may find fewer memories then. If it may find only some
   * memories, it finds the nearest of those, however far they are.
   */
  search(query: VectorQuery): Promise<Hit[]>;
  close(): Promise<void>;
}

export interface VectorQuery {
  readonly vector: Float32Array;
  readonly limit: number;
  readonly depthMax?: number | undefined;
  /** Number of vectors to look for at first beyond one for each memory; three for each when left out. */
  readonly spare?: number | undefined;
  /** The memories that may be found; all when left out. */
  readonly among?: Among | undefined;
}

/** Some memories by their log numbers. */
export interface Among {
  readonly size: number;
  has(sequence: number): boolean;
  /** Counts those whose numbers are from `first` to `last`. */
  countBetween(first: number, last: number): number;
  /** Lists those whose numbers are from `first` to `last`, in order. */
  between(first: number, last: number): Float64Array;
}

export interface VectorRow {
  readonly sequence: number;
  /** Operation id of its entry in the log. */
  readonly opId: string;
  /** One for each window of the text, in order. */
  readonly vectors: readonly Float32Array[];
}

/** Result of comparing searches with exact ones. */
export interface RecallMeasured {
  /** Number of the nearest vectors that the searches found. */
  readonly found: number;
  /** Number of the nearest vectors. */
  readonly compared: number;
}

/** Numbers of an index's rows: one for each vector, or for each memory's words and fields. */
export interface RowCounts {
  /** Rows that are in no file yet. */
  readonly tail: number;
  /** Rows in segments that were removed, and take memory until the segment is built anew. */
  readonly removed: number;
  /** Rows of the tail beyond those that may wait: writing files does not keep up. */
  readonly behind: number;
}

/** What the files of an index hold. */
export interface FilesMeasured {
  /** Number of the last entry of the log up to which they cover it without a gap; 0 if they do not cover its start. */
  readonly upto: number;
  readonly files: number;
  readonly bytes: number;
  /** Number of rows, removed ones included. */
  readonly rows: number;
  readonly removed: number;
}

/** A vector that was found: its memory's log number and its position among the memory's vectors. */
export interface Hit {
  readonly sequence: number;
  readonly window: number;
  /** Cosine, with the precision of the index. */
  readonly similarity: number;
}

/** Position in its log up to which an index has applied it. */
export interface Mark {
  readonly sequence: number;
  /** Operation id of that entry, which tells whether the log is still the same. */
  readonly opId: string;
}

/** Result of restoring an index from its files. */
export interface Restored extends Mark {
  /** Memories removed after the files were written: the log must not have them any more. */
  readonly wiped: readonly number[];
}
