import { readJsonl } from "./jsonl.js";

/** Two texts, and a rating of their similarity by people. */
export interface Pair {
  readonly id: string;
  readonly sentence1: string;
  readonly sentence2: string;
  /** Mean of ratings (STS), or 1 for duplicates and 0 for others (pairs). */
  readonly gold: number;
}

export interface PairSet {
  readonly name: string;
  readonly pairs: readonly Pair[];
}

interface PairLine extends Omit<Pair, "gold"> {
  readonly score?: number;
  readonly label?: number;
}

/**
 * Reads the set.
 *
 * @throws Error that names what is missing.
 */
export function loadPairSet(base: string, name: string): PairSet {
  const lines = readJsonl<PairLine>(base);
  if (lines === undefined) throw new Error(`there is no ${base}.jsonl`);
  const pairs = lines.map(({ id, sentence1, sentence2, score, label }) => {
    const gold = score ?? label;
    if (gold === undefined) throw new Error(`${base}: pair ${id} has neither "score" nor "label"`);
    return { id, sentence1, sentence2, gold };
  });
  return { name, pairs };
}
