/** The port to the vector indexes. An index is derived state: it may vanish and is rebuilt from the log. */
export interface Vectors {
  /** An empty index for the vectors of one incarnation. */
  open(incarnation: string): VectorIndex;
}

export interface VectorIndex {
  /** How many vectors are in it. */
  readonly size: number;
  /** So much was taken out of it that a new one, built from the log, would serve better. */
  readonly worn: boolean;
  /** What it takes in memory, in bytes, about. */
  readonly bytes: number;
  /** Adds vectors under their log numbers; a later search sees them. Throws on a vector that is not finite. */
  add(rows: readonly VectorRow[]): Promise<void>;
  /** Takes vectors out and overwrites them; numbers that are not in it are passed over. */
  remove(sequences: readonly number[]): Promise<void>;
  /** The numbers of the `limit` nearest vectors, best first; fewer when it holds fewer. */
  search(query: { vector: Float32Array; limit: number }): Promise<number[]>;
  close(): Promise<void>;
}

export interface VectorRow {
  readonly sequence: number;
  readonly vector: Float32Array;
}
