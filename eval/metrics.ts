import type { Query, Row } from "./retrieval-set.js";

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
  /** 1 if one of them is among the first k found. */
  readonly sessionAny1?: number;
  readonly sessionAny?: number;
  readonly sessionAny10?: number;
  /** 1 if all of them are. */
  readonly sessionAll1?: number;
  readonly sessionAll?: number;
  readonly sessionAll10?: number;
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
  const inOrder = [...new Set(found.map(({ session }) => session))];
  const hits = (k: number) => sessions.filter((session) => inOrder.slice(0, k).includes(session)).length;
  const any = (k: number) => Number(hits(k) > 0);
  const all = (k: number) => Number(hits(k) === sessions.length);
  return {
    sessionRecall: hits(5) / sessions.length,
    sessionAny1: any(1),
    sessionAny: any(5),
    sessionAny10: any(10),
    sessionAll1: all(1),
    sessionAll: all(5),
    sessionAll10: all(10),
  };
}
