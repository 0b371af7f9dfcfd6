/** A memory that was left out of an answer because it fits the query too little. */
export interface Omitted {
  readonly id: string;
  readonly score: number;
  readonly words: number;
  readonly fit: number;
}

interface Candidate {
  readonly entry: { readonly id: string };
  readonly score: number;
  /** Share of the query's words; undefined in an order by meaning alone. */
  readonly words?: number | undefined;
}

/**
 * Says how well a memory fits a query by itself, 0 to 1.5. Unlike the rank it does not depend on the other
 * memories, so one floor serves all namespaces (docs/decisions.md).
 */
export function fitOf({ score, words = 0 }: Pick<Candidate, "score" | "words">): number {
  return score + words / 2;
}

/** Leaves out the results that do not fit, and says which if reasons were asked for. */
export function fitting<F extends Candidate>(
  results: readonly F[],
  { minFit, explain }: { minFit: number | undefined; explain: boolean },
): { results: readonly F[]; omitted?: readonly Omitted[] } {
  if (minFit === undefined) return { results };
  const fits = (each: F) => fitOf(each) >= minFit;
  const omitted = results.filter((each) => !fits(each)).map(omit);
  return { results: results.filter(fits), ...(explain && { omitted }) };
}

function omit({ entry, score, words = 0 }: Candidate): Omitted {
  return { id: entry.id, score, words, fit: fitOf({ score, words }) };
}
