import type { Query, Row } from "./retrieval-set.js";

export const SESSIONS_AT = 5;
const NDCG_AT = 10;

/** Shares from 0 to 1. The ones about sessions exist only for sets that have sessions. */
export interface Metrics {
  /** 1 if one of the first k answers the query. */
  readonly hit1: number;
  readonly hit5: number;
  readonly hit10: number;
  readonly ndcg10: number;
  /** Share of the sessions that answer the query among the first five found. */
  readonly sessionRecall?: number;
  /** 1 if one of them is found. */
  readonly sessionAny?: number;
  /** 1 if all of them are found. */
  readonly sessionAll?: number;
}

export type Metric = keyof Metrics;

/**
 * Measures one query.
 *
 * @param found the best rows, best first, at least ten of them if there are as many.
 */
export function metricsOf(query: Query, found: readonly Row[]): Metrics {
  const ids = found.map(({ id }) => id);
  const hit = (k: number) => Number(ids.slice(0, k).some((id) => query.relevant.has(id)));
  return {
    hit1: hit(1),
    hit5: hit(5),
    hit10: hit(10),
    ndcg10: ndcg(ids, query.gains),
    ...(query.sessions.length > 0 && sessionMetrics(query.sessions, found)),
  };
}

/**
 * Normalised discounted cumulative gain of the first ten, as in trec_eval (`ndcg_cut_10`) and BEIR: the gain
 * is the grade itself, the discount log2(rank + 1), and the ideal order is that of all rows with a grade.
 */
export function ndcg(ids: readonly string[], gains: ReadonlyMap<string, number>): number {
  const ideal = dcg([...gains.values()].sort((a, b) => b - a));
  return ideal === 0 ? 0 : dcg(ids.map((id) => gains.get(id) ?? 0)) / ideal;
}

function dcg(gains: readonly number[]): number {
  return gains.slice(0, NDCG_AT).reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);
}

/** Measures sessions. A session is found where the first of its rows is found. */
function sessionMetrics(sessions: readonly string[], found: readonly Row[]) {
  const first = [...new Set(found.map(({ session }) => session))].slice(0, SESSIONS_AT);
  const hits = sessions.filter((session) => first.includes(session)).length;
  return {
    sessionRecall: hits / sessions.length,
    sessionAny: Number(hits > 0),
    sessionAll: Number(hits === sessions.length),
  };
}
