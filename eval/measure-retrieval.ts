import { inParallel } from "./in-parallel.js";
import { metricsOf } from "./metrics.js";
import type { Query } from "./retrieval-set.js";
import type { Fit, Measured, Outcome } from "./run-record.js";
import type { Sample } from "./sample.js";
import type { OnProgress, Searcher } from "./searcher.js";

/** Number of rows whose scores and words a record keeps. */
const FITS = 5;

export interface RetrievalOptions {
  readonly name: string;
  readonly onStoring: OnProgress;
  readonly onAsking: OnProgress;
}

/** Stores the sample's rows, a namespace for each scope, and asks its queries. */
export async function measureRetrieval(
  searcher: Searcher,
  { queries, rows }: Sample,
  { name, onStoring, onAsking }: RetrievalOptions,
): Promise<Measured<Outcome>> {
  const numbers = new Map([...rows.keys()].map((scope, i) => [scope, `${name} ${i}`]));
  const namespaceOf = (scope: string) => numbers.get(scope) as string;
  const placed = [...rows].flatMap(([scope, all]) => {
    return all.map((row) => ({ namespace: namespaceOf(scope), row }));
  });
  const refused = await searcher.store(placed, onStoring);
  const ask = async (query: Query) => {
    const scopes = query.scopes.length > 0 ? query.scopes : [...rows.keys()];
    return outcomeOf(query, await searcher.search(scopes.map(namespaceOf), query.text));
  };
  return { refused, outcomes: await inParallel(queries, ask, onAsking) };
}

function outcomeOf(query: Query, hits: Awaited<ReturnType<Searcher["search"]>>): Outcome {
  const { id, category, answerable, relevant } = query;
  const fits = hits.slice(0, FITS).flatMap(({ row, score, words }): Fit[] => {
    return words === undefined ? [] : [[round(score), round(words), answerable && relevant.has(row.id)]];
  });
  return {
    id,
    ...(category !== undefined && { category }),
    answerable,
    topScore: hits[0]?.score ?? 0,
    ...(fits.length > 0 && { fits, weight: round(hits[0]?.weight ?? 0) }),
    ...metricsOf(
      query,
      hits.map(({ row }) => row),
    ),
  };
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
