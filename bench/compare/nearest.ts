import { exactSearch, MetricKind } from "usearch";
import type { Corpus } from "./texts.js";

/** Number of nearest texts that are looked for. */
export const TOP_K = 10;

/**
 * Returns the share of the true nearest texts among the first `memories` that was found, over all questions.
 */
export function shareFound(
  found: readonly (readonly string[])[],
  { corpus, memories, queries }: { corpus: Corpus; memories: number; queries: readonly Float32Array[] },
): number {
  const { dimensions, texts } = corpus;
  const rows = corpus.vectors.subarray(0, memories * dimensions);
  let hits = 0;
  for (const [i, query] of queries.entries()) {
    const { keys } = exactSearch(rows, query.slice(), dimensions, TOP_K, MetricKind.Cos, 1);
    const nearest = new Set(Array.from(keys, (row) => texts[Number(row)]));
    hits += (found[i] ?? []).filter((text) => nearest.has(text)).length;
  }
  return hits / (queries.length * TOP_K);
}
