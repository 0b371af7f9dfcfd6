/** Vectors of an index that one recall looks at, for all windows of its query together. */
export const SEARCH_DEPTH_MAX = 32_768;

/** The port to the vector indexes. An index is derived state: it may vanish and is rebuilt from the log. */
export interface Vectors {
  /** The index of one log, empty until it is restored or added to. */
  open(logId: string): VectorIndex;
  /** Erases what is kept of an index outside of memory. */
  discard(logId: string): Promise<void>;
  /**
   * Resolves when what is kept outside of memory has none of these memories' vectors, whether the index is
   * open or not. Numbers that it does not have are passed over.
   *
   * @throws MemoryError `unavailable`
   */
  wipe(logId: string, sequences: readonly number[]): Promise<void>;
  /** Of these memories, those whose vectors are kept outside of memory. */
  holds(logId: string, sequences: readonly number[]): Promise<number[]>;
  /** The logs of which something is kept outside of memory. */
  kept(): Promise<string[]>;
  /** Up to where the kept one has applied its log; undefined when it is damaged or there is none. */
  markOf(logId: string): Promise<Mark | undefined>;
}

export interface VectorIndex {
  /** How many memories are in it. */
  readonly size: number;
  /** So much was taken out of it that a new one, built from the log, would serve better. */
  readonly fragmented: boolean;
  /** It is so large that building it anew takes long: worth a snapshot. */
  readonly large: boolean;
  /** What it takes in memory, in bytes, about. */
  readonly bytes: number;
  /** Requests that wait for it. */
  readonly waiting: number;
  /** Told when the snapshot had to be erased, because a vector could not be overwritten in it. */
  onSnapshotLost: () => void;
  /** Fills the empty index from its snapshot; undefined when there is none that can be trusted. */
  restore(): Promise<Restored | undefined>;
  /** Empties it, because its snapshot turned out to be of another log. */
  reset(): Promise<void>;
  /** Keeps a snapshot of what it holds, replacing the one before. */
  snapshot(mark: Mark): Promise<void>;
  /** Whether it can hold these vectors of one memory: each as long as all others, and finite. */
  fits(vectors: readonly Float32Array[]): boolean;
  /** Adds memories under their log numbers; a later search sees them. Throws on one that does not fit. */
  add(rows: readonly VectorRow[]): Promise<void>;
  /**
   * Takes memories out: resolves when no search finds them. Their vectors are overwritten soon after, in memory
   * and in the snapshot; `Vectors.wipe` waits for the latter. Numbers that are not in it are passed over.
   */
  remove(sequences: readonly number[]): Promise<void>;
  /**
   * The vectors nearest to one, best first: of the `limit` nearest memories, or of all that it holds,
   * a few each. It looks at no more than the `depthMax` nearest vectors, and may then find fewer memories.
   */
  search(query: { vector: Float32Array; limit: number; depthMax?: number }): Promise<Hit[]>;
  close(): Promise<void>;
}

export interface VectorRow {
  readonly sequence: number;
  /** One for each window of the text, in order. */
  readonly vectors: readonly Float32Array[];
}

/** A vector that was found, told by its memory's log number and its place among the memory's vectors. */
export interface Hit {
  readonly sequence: number;
  readonly window: number;
  /** The cosine, as exact as the index is. */
  readonly similarity: number;
}

/** Up to where an index has applied its log. */
export interface Mark {
  readonly sequence: number;
  /** Of the entry with that number: tells whether the log is still the same. */
  readonly opId: string;
}

/** What a snapshot gave back. */
export interface Restored extends Mark {
  /** Memories that were taken out after it was written: the log must have a tombstone behind the mark for each. */
  readonly wiped: readonly number[];
}
