import type { Pair } from "./pair-set.js";
import type { Measured, PairOutcome } from "./run-record.js";
import type { OnProgress, Searcher } from "./searcher.js";

export async function measurePairs(
  searcher: Required<Searcher>,
  pairs: readonly Pair[],
  { name, onProgress }: { name: string; onProgress: OnProgress },
): Promise<Measured<PairOutcome>> {
  const scores = await searcher.similarities(name, pairs, onProgress);
  const outcomes = pairs.flatMap(({ id, gold }, i) => {
    const score = scores[i];
    return score === undefined ? [] : [{ id, gold, score }];
  });
  return { refused: pairs.length - outcomes.length, outcomes };
}
