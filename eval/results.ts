import type { Estimate } from "./bootstrap.js";
import type { Metric } from "./metrics.js";
import type { Side } from "./retrieval-set.js";
import type { SystemRecord } from "./run-record.js";

/** Above it a result is called a strong match. */
export const STRONG = 0.8;
/** Of 5: what people rate so, means the same but for details. */
export const SAME_RATING = 4;

export type BySystem<T> = Readonly<Record<string, T>>;

/** The figures of a run, as `eval/results.json` keeps them: aggregates only. */
export interface Results {
  readonly version: string;
  readonly side: Side;
  /** At most so many queries of a set; null: all. */
  readonly queriesMax: number | null;
  /** In the page's order; differences are the first one's to each other. */
  readonly systems: BySystem<SystemRecord>;
  readonly retrieval: Readonly<Record<string, RetrievalFigures>>;
  /** Means over sets, each counted once: of all, and of each group. */
  readonly means: Readonly<Record<string, MeanFigures>>;
  readonly similarity: Readonly<Record<string, SimilarityFigures>>;
  /** How true "above 0.80" is, by the pairs it is measured on. */
  readonly strong: Readonly<Record<string, StrongFigures>>;
  /** What people say of pairs, by the score's tenth. */
  readonly bands: BySystem<readonly Band[]>;
  readonly pitfalls: BySystem<readonly number[]>;
}

export interface RetrievalFigures {
  readonly rows: number;
  readonly rowsInAll: number;
  /** Answerable ones; all figures but `unanswerable` are of these. */
  readonly queries: number;
  readonly queriesInAll: number;
  readonly systems: BySystem<RetrievalOfSystem>;
  /** nDCG@10: the first system's less this one's, query by query. */
  readonly differences: BySystem<Estimate>;
  readonly categories: Readonly<Record<string, CategoryFigures>>;
  readonly unanswerable?: UnanswerableFigures;
}

export interface RetrievalOfSystem {
  /** Rows that it would not store. */
  readonly refused: number;
  readonly metrics: Readonly<Partial<Record<Metric, Estimate>>>;
  /** Queries whose best row scores above 0.80, and how many of those rows answer. */
  readonly strong: { readonly queries: number; readonly right: number };
}

export interface CategoryFigures {
  readonly queries: number;
  readonly systems: BySystem<{ readonly hit5: Estimate; readonly ndcg10: Estimate }>;
}

export interface UnanswerableFigures {
  readonly queries: number;
  readonly systems: BySystem<{
    /** The chance that a query with an answer has the higher best score. */
    readonly area: Estimate;
    readonly answerable: TopScores;
    readonly unanswerable: TopScores;
  }>;
}

/** Of each query's best row. */
export interface TopScores {
  readonly low: number;
  readonly median: number;
  readonly high: number;
  /** Share above 0.80. */
  readonly strong: number;
}

export interface MeanFigures {
  readonly sets: number;
  readonly hit5: BySystem<Estimate>;
  readonly ndcg10: BySystem<Estimate>;
  readonly differences: BySystem<Estimate>;
}

export interface SimilarityFigures {
  readonly pairs: number;
  readonly pairsInAll: number;
  readonly spearman: BySystem<Estimate>;
}

export interface StrongFigures {
  readonly pairs: number;
  /** Pairs that people call the same. */
  readonly same: number;
  readonly systems: BySystem<{
    /** Pairs above 0.80. */
    readonly above: number;
    /** Share of those that people call the same. */
    readonly precision: Estimate;
    /** Share above 0.80 of those that people call the same. */
    readonly recall: Estimate;
  }>;
}

export interface Band {
  readonly from: number;
  readonly pairs: number;
  readonly meanRating: number;
  readonly same: number;
}
