import type { Languages } from "./languages.js";
import type { Metrics } from "./metrics.js";
import type { PitfallScores } from "./pitfalls.js";
import type { Side } from "./retrieval-set.js";

/** Outcome of one query with one system. */
export interface Outcome extends Metrics {
  readonly id: string;
  readonly category?: string;
  readonly answerable: boolean;
  /** Score of the best row; 0 if nothing was found. */
  readonly topScore: number;
  /** The first five rows, and the weight of words, where the system orders by words, too. */
  readonly fits?: readonly Fit[];
  readonly weight?: number;
}

/** A row's score, its share of the query's words, and whether it answers the query. */
export type Fit = readonly [score: number, words: number, right: boolean];

/** Results of one system on one set. */
export interface Measured<T> {
  /** Rows or pairs that the system refused. */
  readonly refused: number;
  readonly outcomes: readonly T[];
}

export interface RetrievalRecord {
  /** Number of stored rows, of all rows that the set has. */
  readonly rows: number;
  readonly rowsInAll: number;
  readonly queriesInAll: number;
  readonly systems: Record<string, Measured<Outcome>>;
}

export interface PairOutcome {
  readonly id: string;
  readonly gold: number;
  readonly score: number;
}

export interface PairsRecord {
  readonly kind: "sts" | "pairs";
  readonly pairsInAll: number;
  readonly systems: Record<string, Measured<PairOutcome>>;
}

export interface SystemRecord {
  readonly name: string;
  /** Hash of the model's files; none for BM25. */
  readonly revision?: string;
  readonly date: string;
  readonly machine: string;
}

/** Record of a run, query by query and without texts, which `eval/.runs/` keeps. */
export interface RunRecord {
  readonly version: string;
  readonly side: Side;
  readonly queriesMax: number | null;
  readonly systems: Record<string, SystemRecord>;
  readonly retrieval: Record<string, RetrievalRecord>;
  /** Sets with scopes, searched as if they had none. */
  readonly pooled: Record<string, RetrievalRecord>;
  readonly pairs: Record<string, PairsRecord>;
  readonly pitfalls: Record<string, PitfallScores>;
  readonly languages: Record<string, Languages>;
}
