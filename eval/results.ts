import type { Estimate } from "./bootstrap.js";
import type { Languages } from "./languages.js";
import type { Metric } from "./metrics.js";
import type { Side } from "./retrieval-set.js";
import type { SystemRecord } from "./run-record.js";

/** Score above which a result is called a strong match. */
export const STRONG = 0.8;
/** Rating, of 5, from which people consider two texts equal but for details. */
export const SAME_RATING = 4;

export type BySystem<T> = Readonly<Record<string, T>>;

/** Figures of a run, as `eval/results.json` keeps them: aggregates only. */
export interface Results {
  readonly version: string;
  readonly side: Side;
  /** Maximum number of queries of a set; null means all. */
  readonly queriesMax: number | null;
  /** Systems in the page's order. Differences compare the first one with each other one. */
  readonly systems: BySystem<SystemRecord>;
  readonly retrieval: Readonly<Record<string, RetrievalFigures>>;
  /** Sets with scopes, searched as if they had none. */
  readonly pooled: Readonly<Record<string, RetrievalFigures>>;
  /** Effect of a floor, by set and by model with words. */
  readonly floors: Readonly<Record<string, BySystem<FloorFigures>>>;
  /** Means over all sets and over each group, where each set counts once. */
  readonly means: Readonly<Record<string, MeanFigures>>;
  readonly similarity: Readonly<Record<string, SimilarityFigures>>;
  /** Reliability of "above 0.80", by the pairs on which it is measured. */
  readonly strong: Readonly<Record<string, StrongFigures>>;
  /** Ratings of pairs by people, for each tenth of the score. */
  readonly bands: BySystem<readonly Band[]>;
  readonly pitfalls: BySystem<readonly number[]>;
  readonly languages: BySystem<Languages>;
}

export interface RetrievalFigures {
  readonly rows: number;
  readonly rowsInAll: number;
  /** Number of answerable queries. All figures but `unanswerable` are about these. */
  readonly queries: number;
  readonly queriesInAll: number;
  readonly systems: BySystem<RetrievalOfSystem>;
  /** nDCG@10 of the first system less this one's, query by query. */
  readonly differences: BySystem<Estimate>;
  readonly categories: Readonly<Record<string, CategoryFigures>>;
  readonly unanswerable?: UnanswerableFigures;
}

export interface RetrievalOfSystem {
  /** Number of rows that the system would not store. */
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
    /** Chance that a query with an answer has the higher best score. */
    readonly area: Estimate;
    readonly answerable: TopScores;
    readonly unanswerable: TopScores;
  }>;
}

/** Scores of each query's best row. */
export interface TopScores {
  readonly low: number;
  readonly median: number;
  readonly high: number;
  /** Share above 0.80. */
  readonly strong: number;
}

/** Effect of a floor on the first five rows of each query of a set. */
export interface FloorFigures {
  /** Right rows, and the share of them that it leaves out. */
  readonly right: number;
  readonly rightLost: number;
  /** Share of the wrong rows that it leaves out. */
  readonly wrongSpared: number;
  /** Share of the queries with an answer that lose their only right row. */
  readonly answersLost: number;
  /** Queries without an answer, and the share of them that get an empty answer. */
  readonly unanswerable: number;
  readonly empty: number;
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
  /** Pairs that people consider the same. */
  readonly same: number;
  readonly systems: BySystem<{
    /** Pairs above 0.80. */
    readonly above: number;
    /** Share of those that people consider the same. */
    readonly precision: Estimate;
    /** Share above 0.80 of the pairs that people consider the same. */
    readonly recall: Estimate;
  }>;
}

export interface Band {
  readonly from: number;
  readonly pairs: number;
  readonly meanRating: number;
  readonly same: number;
}
