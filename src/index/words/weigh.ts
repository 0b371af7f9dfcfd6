import type { WeighedQuery, WeighedWord } from "../../memory/ports/index.js";
import { hashOf } from "./hash.js";
import type { WordSegment } from "./part.js";
import { rarityOf } from "./scoring.js";
import type { Count, Words } from "./text/words-in.js";

/** Number of look-ups of words before other work may run. */
const SLICE_LOOKUPS = 1024;

/** Weighs the words of a query by how many living rows of all segments have them. */
export function* weigh(segments: readonly WordSegment[], words: Words): Generator<void, WeighedQuery> {
  const living = segments.reduce((sum, each) => sum + each.living, 0);
  const lengths = segments.reduce((sum, each) => sum + each.words.lengthSum, 0);
  const weighed: WeighedWord[] = [];
  let ideal = 0;
  let lookups = 0;
  for (const [word, count] of words.counts) {
    const hash = hashOf(word);
    const holding = rowsWith(segments, hash);
    const rarity = rarityOf(living, holding);
    ideal += timesInIdeal(count, holding) * rarity;
    const factor = (count.times + count.inIdentifiers) * rarity;
    if (holding > 0) weighed.push({ hash, seen: count.seen, factor });
    lookups += 1 + segments.length;
    if (lookups < SLICE_LOOKUPS) continue;
    lookups = 0;
    yield;
  }
  return { words: weighed, ideal, meanLength: lengths / living, leftOut: words.leftOut };
}

/** Number of living rows that have a word. */
function rowsWith(segments: readonly WordSegment[], hash: number): number {
  let rows = 0;
  for (const { words } of segments) {
    const word = words.find(hash);
    if (word >= 0) rows += words.arrays.counts[word] as number;
  }
  return rows;
}

/**
 * Number of times that a word counts in the best score that a memory could have. An identifier that no memory
 * has takes nothing away: its words count already.
 */
function timesInIdeal({ times, inIdentifiers }: Count, holding: number): number {
  return holding > 0 ? times + inIdentifiers : times;
}
