import type { Pair } from "./pair-set.js";
import type { Row } from "./retrieval-set.js";

/** As many as one recall returns at most. */
export const HITS_MAX = 20;

export interface Hit {
  readonly row: Row;
  readonly score: number;
}

export interface Placed {
  readonly namespace: string;
  readonly row: Row;
}

export type OnProgress = (done: number) => void;

/** What is measured: it keeps rows in namespaces and finds the best of some namespaces. */
export interface Searcher {
  /** Answers how many it would not take. */
  store(rows: readonly Placed[], onProgress: OnProgress): Promise<number>;
  /** The best rows of the namespaces together, best first, at most `HITS_MAX`. */
  search(namespaces: readonly string[], text: string): Promise<Hit[]>;
  /** How alike the texts of each pair are; nothing where it would not take one of them. */
  similarities(set: string, pairs: readonly Pair[], onProgress: OnProgress): Promise<(number | undefined)[]>;
  close(): Promise<void>;
}
