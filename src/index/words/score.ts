import type { WeighedQuery, WordHit } from "../../memory/ports/index.js";
import { findPosting, noteIn } from "../rows/inverted.js";
import { lowerBound } from "../rows/lower-bound.js";
import type { WordSegment } from "./part.js";
import { gainOf, Norms } from "./scoring.js";
import { WEIGHTS } from "./weights.js";

/** Number of postings looked for before other work may run. */
const SLICE_LOOKUPS = 2048;

/**
 * Scores some memories by the words of an earlier search, in the order of their numbers. Those that live in no
 * segment are left out.
 */
export function* scoreWords(
  segments: readonly WordSegment[],
  query: WeighedQuery,
  sequences: readonly number[],
): Generator<void, WordHit[]> {
  const norms = new Norms(query.meanLength);
  const ordered = Float64Array.from(new Set(sequences)).sort();
  const scored: Scored[] = [];
  for (const segment of segments) {
    const rows = rowsOf(segment, ordered).map((row) => new Scored(segment, row));
    scored.push(...rows);
    if (rows.length === 0) continue;
    let lookups = 0;
    for (const { hash, factor, seen } of query.words) {
      const word = segment.words.find(hash);
      lookups += 1 + rows.length;
      if (word >= 0) for (const each of rows) each.add(word, { factor, seen, norms });
      if (lookups < SLICE_LOOKUPS) continue;
      lookups = 0;
      yield;
    }
  }
  const living = scored.filter(({ lives }) => lives).sort((a, b) => a.sequence - b.sequence);
  return living.map(({ sequence, score, words }) => ({ sequence, score, words }));
}

/** Finds the living rows of those ascending log numbers that a segment has. */
function rowsOf({ sequences, live }: WordSegment, ordered: Float64Array): number[] {
  const rows: number[] = [];
  const all = { from: 0, to: sequences.length };
  const last = sequences.at(-1) ?? -1;
  let i = lowerBound(ordered, sequences[0] ?? 0);
  for (; i < ordered.length && (ordered[i] as number) <= last; i++) {
    const row = lowerBound(sequences, ordered[i] as number, all);
    if (sequences[row] === ordered[i] && live.has(row)) rows.push(row);
  }
  return rows;
}

/** A row whose score is computed word by word. */
class Scored {
  score = 0;
  readonly words: string[] = [];
  readonly sequence: number;
  readonly #length: number;

  constructor(
    private readonly segment: WordSegment,
    private readonly row: number,
  ) {
    this.sequence = segment.sequences[row] as number;
    this.#length = segment.words.arrays.lengths[row] as number;
  }

  get lives(): boolean {
    return this.segment.live.has(this.row);
  }

  add(word: number, by: { readonly factor: number; readonly seen: string; readonly norms: Norms }): void {
    const { arrays } = this.segment.words;
    const place = findPosting(arrays, word, this.row);
    if (place < 0) return;
    const weight = WEIGHTS[noteIn(arrays.postings[place] as number)] as number;
    this.score += gainOf(by.factor, weight, by.norms.of(this.#length));
    this.words.push(by.seen);
  }
}
