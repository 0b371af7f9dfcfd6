import type { WeighedQuery, WordHit } from "../../memory/ports/index.js";
import type { Bits } from "../rows/bits.js";
import { findPosting, noteIn } from "../rows/inverted.js";
import { rowOf } from "../rows/memories.js";
import type { WordSegment } from "./part.js";
import { gainOf, Norms, WEIGHTS } from "./scoring.js";

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
  const asked = [...new Set(sequences)];
  const scored: Scored[] = [];
  for (const segment of segments) {
    const { words, live } = segment;
    const { postings, lengths } = words.arrays;
    const own: Scored[] = [];
    for (const sequence of asked) {
      const row = rowOf(segment, sequence);
      if (row >= 0) own.push({ sequence, score: 0, words: [], row, live });
    }
    scored.push(...own);
    if (own.length === 0) continue;
    let lookups = 0;
    for (const { hash, factor, surface } of query.words) {
      const word = words.find(hash);
      lookups += 1 + own.length;
      for (const each of word >= 0 ? own : []) {
        const position = findPosting(words.arrays, word, each.row);
        if (position < 0) continue;
        const weight = WEIGHTS[noteIn(postings[position] as number)] as number;
        each.score += gainOf(factor, weight, norms.normFor(lengths[each.row] as number));
        each.words.push(surface);
      }
      if (lookups < SLICE_LOOKUPS) continue;
      lookups = 0;
      yield;
    }
  }
  const living = scored.filter(({ live, row }) => live.has(row)).sort((a, b) => a.sequence - b.sequence);
  return living.map(({ sequence, score, words }) => ({ sequence, score, words }));
}

/** A row whose score is computed word by word. */
interface Scored {
  readonly sequence: number;
  score: number;
  readonly words: string[];
  readonly row: number;
  readonly live: Bits;
}
