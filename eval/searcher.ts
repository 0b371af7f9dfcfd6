import type { Pair } from "./pair-set.js";
import type { Row } from "./retrieval-set.js";

/** Maximum number of results of one recall. */
export const HITS_MAX = 20;

export interface Hit {
  readonly row: Row;
  readonly score: number;
  /** Share of the query's words that the row has, where the system orders by words, too. */
  readonly words?: number;
  /** Weight of words for the query. */
  readonly weight?: number;
}

export interface Placed {
  readonly namespace: string;
  readonly row: Row;
}

export type OnProgress = (done: number) => void;

/** A measured system: it keeps rows in namespaces and finds the best rows of some namespaces. */
export interface Searcher {
  /** Stores rows and returns how many it refused. */
  store(rows: readonly Placed[], onProgress: OnProgress): Promise<number>;
  /** Finds the best rows of all these namespaces, best first, up to `HITS_MAX`. */
  search(namespaces: readonly string[], text: string): Promise<Hit[]>;
  /**
   * Scores the similarity of each pair; undefined if the system refuses one of its texts. A system whose order
   * depends on more than two texts has no such score.
   */
  similarities?(set: string, pairs: readonly Pair[], onProgress: OnProgress): Promise<(number | undefined)[]>;
  close(): Promise<void>;
}
