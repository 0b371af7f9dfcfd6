import type { Mark, Restored } from "./vectors.js";

/**
 * Score that a memory could have beyond the words of a query: the share of a query with few and common words
 * stays small.
 */
const IDEAL_MORE = 5;

/** The port to the word indexes. An index is derived state: it may vanish, and is rebuilt from the log. */
export interface Words {
  /** Opens the index of one log, which is empty until it is restored or added to. */
  open(logId: string): WordIndex;
  /** Erases the file of an index. */
  discard(logId: string): Promise<void>;
  /**
   * Removes these memories' words from the file of an index, whether it is open or not. Unknown numbers are
   * ignored.
   *
   * @throws MemoryError `unavailable`
   */
  wipe(logId: string, sequences: readonly number[]): Promise<void>;
  /** Answers those of these memories whose words are in the file of the index. */
  holds(logId: string, sequences: readonly number[]): Promise<number[]>;
  /** Lists the logs whose indexes have files. */
  kept(): Promise<string[]>;
  /** Reads the log position of an index's snapshot; undefined if it is damaged or missing. */
  markOf(logId: string): Promise<Mark | undefined>;
  /** Ends what runs beside the main thread. */
  close(): Promise<void>;
}

/**
 * The words of one namespace's memories. Calls take effect in their order: a search sees every change that
 * was asked for before it, and none that was asked for later.
 */
export interface WordIndex {
  /** Number of memories in it. */
  readonly size: number;
  /** True if building it again would take long, so that a snapshot is worthwhile. */
  readonly large: boolean;
  /** Approximate size in memory, in bytes. */
  readonly bytes: number;
  /** Number of requests that wait for it. */
  readonly waiting: number;
  /** Called if the snapshot had to be erased, because a memory could not be wiped in it. */
  onSnapshotLost: () => void;
  /** Fills the empty index from its snapshot; undefined if it has none that can be trusted. */
  restore(): Promise<Restored | undefined>;
  /** Empties the index, because its snapshot belongs to another log. */
  reset(): Promise<void>;
  /** Writes a snapshot of its contents, which replaces the one before. */
  snapshot(mark: Mark): Promise<void>;
  /**
   * Adds memories in the order of their log numbers, which are above all others. Answers the number of
   * characters that were left out, because a text became too long.
   */
  add(rows: readonly TextRow[]): Promise<number>;
  /**
   * Removes memories, whose texts may be gone. From then on the index answers as if it had never had them.
   * Unknown numbers are ignored. The snapshot is changed by `Words.wipe`.
   */
  remove(sequences: readonly number[]): Promise<void>;
  /** Finds the `limit` memories whose words fit a text best, best first; of equals, the older comes first. */
  search(query: WordQuery): Promise<WordsFound>;
  /**
   * Scores some memories by the words of an earlier search, in the order of their numbers. Those that the
   * index does not have are left out.
   */
  score(query: WeighedQuery, sequences: readonly number[]): Promise<WordHit[]>;
  /**
   * Lists the log numbers of up to 1,024 living memories, all if there are no more. The sample depends on
   * nothing but which memories live.
   */
  sample(): Promise<readonly number[]>;
  close(): Promise<void>;
}

export interface WordQuery {
  readonly text: string;
  readonly limit: number;
  /** Log numbers of the memories that may be found, in order; all when left out. */
  readonly among?: Float64Array | undefined;
}

export interface TextRow {
  readonly sequence: number;
  readonly text: string;
}

/** A memory that has words of a query. */
export interface Heard {
  readonly sequence: number;
  /** BM25 of the memory's words; 0 if it has none of the query's. */
  readonly score: number;
}

export interface WordHit extends Heard {
  /** Words of the query that the memory has, as the query has them, in lower case. */
  readonly words: readonly string[];
}

export interface WordsFound {
  readonly query: WeighedQuery;
  readonly heard: readonly Heard[];
}

/** A query's words as an index weighed them: scores by it compare, whatever is stored meanwhile. */
export interface WeighedQuery {
  /** Words that the index has, in the order of the query. */
  readonly words: readonly WeighedWord[];
  /** Sum of the rarities of all words, repeated and unknown ones included. */
  readonly ideal: number;
  /** Mean number of a memory's words. */
  readonly meanLength: number;
  /** Number of the query's characters that were left out, because it became too long. */
  readonly leftOut: number;
}

export interface WeighedWord {
  /** Identity of the word: 48 bits of a hash. */
  readonly low: number;
  readonly high: number;
  /** The word as the query has it, in lower case. */
  readonly seen: string;
  /** Rarity of the word, times its number in the query. */
  readonly factor: number;
}

/** Share of a query's words that a memory has, 0 to 1. */
export function shareOf({ score }: Heard, { ideal }: WeighedQuery): number {
  return Math.min(1, score / (ideal + IDEAL_MORE));
}
