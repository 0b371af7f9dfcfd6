/** The port to the vector indexes. An index is derived state: it may vanish and is rebuilt from the log. */
export interface Vectors {
  /** The index of one incarnation, empty until it is restored or added to. */
  open(incarnation: string): VectorIndex;
  /** Erases what is kept of a closed index outside of memory. */
  discard(incarnation: string): Promise<void>;
  /** The incarnations of which something is kept outside of memory. */
  kept(): Promise<string[]>;
  /** Up to where the kept one has applied its log; undefined when it is damaged or there is none. */
  markOf(incarnation: string): Promise<Mark | undefined>;
}

export interface VectorIndex {
  /** How many vectors are in it. */
  readonly size: number;
  /** So much was taken out of it that a new one, built from the log, would serve better. */
  readonly worn: boolean;
  /** It is so large that building it anew takes long: worth a snapshot. */
  readonly large: boolean;
  /** What it takes in memory, in bytes, about. */
  readonly bytes: number;
  /** Fills the empty index from its snapshot; undefined when there is none that can be trusted. */
  restore(): Promise<Mark | undefined>;
  /** Empties it, because its snapshot turned out to be of another log. */
  reset(): Promise<void>;
  /** Keeps a snapshot of what it holds, replacing the one before. */
  snapshot(mark: Mark): Promise<void>;
  /** Whether it can hold this vector: as long as the others, and finite. */
  fits(vector: Float32Array): boolean;
  /** Adds vectors under their log numbers; a later search sees them. Throws on a vector that does not fit. */
  add(rows: readonly VectorRow[]): Promise<void>;
  /**
   * Takes vectors out and overwrites them, in a snapshot too; numbers that are not in it are passed
   * over.
   */
  remove(sequences: readonly number[]): Promise<void>;
  /** The numbers of the `limit` nearest vectors, best first; fewer when it holds fewer. */
  search(query: { vector: Float32Array; limit: number }): Promise<number[]>;
  close(): Promise<void>;
}

export interface VectorRow {
  readonly sequence: number;
  readonly vector: Float32Array;
}

/** Up to where an index has applied its log. */
export interface Mark {
  readonly sequence: number;
  /** Of the entry with that number: tells whether the log is still the same. */
  readonly opId: string;
}
