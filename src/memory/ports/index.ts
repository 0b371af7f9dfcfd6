import type { Condition } from "./condition.js";
import type { Projected } from "./log.js";

/** Maximum number of an index's vectors that one recall examines, for all windows of its query together. */
export const SEARCH_DEPTH_MAX = 32_768;

/**
 * Score that a memory could have beyond the words of a query: the share of a query with few and common words
 * stays small.
 */
const IDEAL_MORE = 5;

/**
 * The port to the indexes of logs: of the vectors, words and fields of their memories. An index is derived state: it
 * may vanish, and is built again from the log. Searches of words and fields take several indexes of one log at once, and
 * count their memories together.
 */
export interface Indexes {
  /** Opens the index of one log, which is empty until it is restored or added to. */
  open(logId: string): Index;
  /** Opens an empty index for memories of one log that has no files; its search of vectors is exact, whatever its size. */
  openUnsaved(logId: string): Index;
  /** Erases the files of an index. */
  discard(logId: string): Promise<void>;
  /**
   * Removes memories from the files of an index, whether it is open or not. Unknown numbers are ignored.
   *
   * @throws MemoryError `unavailable` if a file can be neither overwritten nor erased.
   */
  wipe(logId: string, sequences: readonly number[]): Promise<void>;
  /** Those of these memories that the files of an index hold. */
  holds(logId: string, sequences: readonly number[]): Promise<number[]>;
  /** The logs whose indexes have files. */
  stored(): Promise<string[]>;
  /** Positions in the log that the files of an index depend on; empty if it has no whole file. */
  marksOf(logId: string): Promise<readonly Mark[]>;
  /** Measures the files of an index, open or not, without checking that they are whole. */
  measureFiles(logId: string): Promise<IndexFiles>;
  /**
   * Reads the files of an index, and counts the segments whose files are damaged, or of another log or format: they are
   * built again from the log.
   */
  countUnusable(logId: string): Promise<number>;
  /** Finds the memories whose words fit a text best, best first; of equals, the older comes first. */
  searchWords(indexes: readonly Index[], query: IndexQuery): Promise<WordsFound>;
  /** Scores some memories by the words of an earlier search. Those that no index has are left out. */
  scoreWords(
    indexes: readonly Index[],
    query: WeighedQuery,
    sequences: readonly number[],
  ): Promise<WordHit[]>;
  /**
   * Log numbers of up to 1,024 living memories, all if there are no more. The sample depends on nothing but which
   * memories live.
   */
  sample(indexes: readonly Index[]): Promise<readonly number[]>;
  /** Selects the memories that match a condition. */
  select(indexes: readonly Index[], by: Selecting): Promise<Selection>;
  /** Lists the first of some memories in the order of their event times. */
  inEventOrder(indexes: readonly Index[], among: Among, order: EventOrder): Promise<Happened[]>;
  /** When memories happened, in milliseconds since 1970. Those that no index has are left out. */
  eventTimesOf(indexes: readonly Index[], sequences: readonly number[]): Promise<Map<number, number>>;
}

/** What an index holds of a memory. They are kept in files of their own, which may cover other ranges of the log. */
export type IndexPart = "vectors" | "words";

/** The vectors, words and fields of one log's memories. A search sees every change that was asked for before it. */
export interface Index {
  /** Number of memories in it. */
  readonly size: number;
  /** Bytes that it holds in memory. */
  readonly bytes: number;
  /** Numbers of rows of its parts: one for each vector, or for each memory's words and fields. */
  readonly rowCounts: Readonly<Record<IndexPart, RowCounts>>;
  /** Number of changes so far. */
  readonly changes: number;
  readonly vectors: VectorIndex;
  /** Called if some of its files had to be erased, because a vector could not be overwritten in them. */
  onLost: () => void;
  /** Fills the empty index from its files; undefined if it has none. */
  restore(): Promise<RestoredIndex | undefined>;
  /** The first range of the log that its restored files cover, but not those of one part; undefined if there is none. */
  readonly gap: Gap | undefined;
  /** Fills the gap up to a number with what the part lacks of the memories that live there, in order. */
  fill(rows: readonly IndexRow[], upto: number): Promise<void>;
  /** Empties the index, because its files belong to another log. */
  reset(): Promise<void>;
  /**
   * Notes the entry that was the log's last when what is added or filled in next was read: that may lack memories which
   * this entry, or one before it, has erased.
   */
  noteEnd(end: Mark): void;
  /** Notes the time at which the last memory expired that is removed because of that. */
  noteExpired(expiredMs: number): void;
  has(sequence: number): boolean;
  /** True if it can hold these vectors of one memory: each of the right length, and finite. */
  fits(vectors: readonly Float32Array[]): boolean;
  /**
   * Adds memories whose numbers are above all others, and notes up to where the log has been applied. A search that
   * begins after the call sees them; the promise resolves when there is room for more. Throws if a vector does not fit.
   */
  add(rows: readonly IndexRow[], applied: Mark): Promise<void>;
  /**
   * Removes memories: no search that begins after the call finds them, and the promise resolves when they are
   * overwritten in its files. Unknown numbers are ignored.
   *
   * @throws MemoryError `unavailable` if a file can be neither overwritten nor erased.
   */
  remove(sequences: readonly number[]): Promise<void>;
  /** Closes the index, once; `retainFiles` says whether its files are of use. */
  close(options: { retainFiles: boolean }): Promise<void>;
}

/** The vectors of an index, as they are searched. */
export interface VectorIndex {
  /** Number of searches that wait for a thread. */
  readonly waiting: number;
  /** Bytes, of those of the index, of copies that searches have made of its vectors to find more, or sooner. */
  readonly copiedBytes: number;
  /** Gives the memory of these copies back; a search makes them again when it needs them. */
  releaseCopies(): void;
  /** Bound of the error of a hit's similarity. */
  readonly error: number;
  /** True if a search without a bound of its depth misses none of the nearest. */
  readonly isExact: boolean;
  /**
   * Finds the vectors nearest to one, best first: a few of each of the `limit` nearest memories. It examines
   * no more than the `depthMax` nearest vectors, and may find fewer memories then. If it may find only some
   * memories, it finds the nearest of those, however far they are.
   */
  search(query: VectorQuery): Promise<Hit[]>;
}

export interface IndexQuery {
  readonly text: string;
  readonly limit: number;
  /** The memories that may be found; all when left out. */
  readonly among?: Among | undefined;
}

/** A memory as an index takes it. What fills a gap has only what the part lacks. */
export interface IndexRow {
  readonly sequence: number;
  readonly memory?: Projected["text"] | undefined;
  /** One for each window of the text, in order; none if they do not fit. */
  readonly vectors?: readonly Float32Array[] | undefined;
}

/** A range of the log whose memories are in no file of a part: numbers above `after`, up to `upto`. */
export interface Gap {
  readonly part: IndexPart;
  readonly after: number;
  readonly upto: number;
}

export interface RestoredIndex {
  /** Number of the last entry that the files cover. */
  readonly upto: number;
  /** Number of the last entry whose removals, and those of all before it, all files have. */
  readonly applied: number;
  /**
   * Entries of the log up to which tombstones were applied to the files, or up to which their memories may have been
   * erased before: the log must have them all.
   */
  readonly marks: readonly Mark[];
  /** Memories that were removed from the files since their marks: the log must not have them as visible. */
  readonly removed: readonly number[];
  /** The latest time at which a memory expired that the files lack because of that; 0 if there is none. */
  readonly expiredMs: number;
}

export interface Selecting {
  readonly condition: Condition;
  /**
   * Returns the log numbers of the memories that the condition names by id, of all their versions by now: one may be
   * replaced before the selection begins.
   */
  ids(): ReadonlyMap<unknown, readonly number[]>;
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

/** The memories that match a filter. It does not change any more. */
export interface Selection extends Among {
  /** All log numbers, in order. */
  readonly sequences: Float64Array;
  /** A selection with other memories as well, of which none is in it already. */
  with(sequences: readonly number[]): Selection;
}

/** A memory, and when it happened in milliseconds since 1970. */
export interface Happened {
  readonly sequence: number;
  readonly atMs: number;
}

/** Which memories are wanted in the order of their event times; of equal times, log numbers decide in the same way. */
export interface EventOrder {
  readonly isNewestFirst: boolean;
  /** The memory behind which they begin; the first of all if left out. */
  readonly after?: Happened | undefined;
  readonly limit: number;
}

/** A memory that has words of a query. */
export interface WordMatch {
  readonly sequence: number;
  /** BM25 of the memory's words; 0 if it has none of the query's. */
  readonly score: number;
}

export interface WordHit extends WordMatch {
  /** Words of the query that the memory has, as the query has them, in lower case. */
  readonly words: readonly string[];
}

export interface WordsFound {
  readonly query: WeighedQuery;
  readonly matches: readonly WordMatch[];
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
  /** Identity of the word: 48 bits. */
  readonly hash: number;
  /** The word as the query has it, in lower case. */
  readonly surface: string;
  /** Rarity of the word, times its number in the query. */
  readonly factor: number;
}

export interface VectorQuery {
  readonly vector: Float32Array;
  readonly limit: number;
  readonly depthMax?: number | undefined;
  /**
   * Number of vectors to look for at first beyond one for each memory, and of memories beyond the limit that are returned
   * if they are found with these; three for each, and none, when left out.
   */
  readonly spare?: number | undefined;
  /** The memories that may be found; all when left out. */
  readonly among?: Among | undefined;
}

/** Result of comparing searches with exact ones. */
export interface RecallMeasured {
  /** Number of the nearest vectors that the searches found. */
  readonly found: number;
  /** Number of the nearest vectors. */
  readonly compared: number;
}

/** Numbers of rows of a part of an index. */
export interface RowCounts {
  /** Rows that are in no file yet. */
  readonly tail: number;
  /** Rows in segments that were removed, and take memory until the segment is built anew. */
  readonly removed: number;
  /** Rows of the tail beyond those that may wait: writing files does not keep up. */
  readonly backlog: number;
}

/** The files of an index. */
export interface IndexFiles {
  readonly files: number;
  readonly bytes: number;
  /** What they hold of each part. */
  readonly parts: Readonly<Record<IndexPart, FilesMeasured>>;
}

/** What the files of an index hold of a part. */
export interface FilesMeasured {
  /** Number of the last entry of the log up to which they cover it without a gap; 0 if they do not cover its start. */
  readonly upto: number;
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

/** Share of a query's words that a memory has, 0 to 1. */
export function shareOf({ score }: WordMatch, { ideal }: WeighedQuery): number {
  return Math.min(1, score / (ideal + IDEAL_MORE));
}
