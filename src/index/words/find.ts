import type {
  Among,
  IndexQuery,
  WeighedQuery,
  WeighedWord,
  WordMatch,
  WordsFound,
} from "../../memory/ports/index.js";
import { Best } from "../rows/best.js";
import { Bits } from "../rows/bits.js";
import { noteIn, postingsOf, rowIn } from "../rows/inverted.js";
import { lowerBound } from "../rows/lower-bound.js";
import { rowOf } from "../rows/memories.js";
import type { WordSegment } from "./part.js";
import { hashOf } from "./row-words.js";
import { gainOf, Norms, rarityOf, WEIGHTS } from "./scoring.js";
import { type Count, type Words, wordsIn } from "./words-in.js";

/**
 * Number of rows scored at a time: their scores stay in the processor's cache, and a search takes the same
 * memory whatever the size of a segment.
 */
const RANGE = 32_768;
/** Number of postings, or of words without one, read before other work may run. */
const SLICE_POSTINGS = 8192;
/** Number of words looked up before other work may run. */
const SLICE_LOOKUPS = 1024;
/** Number of log numbers compared before other work may run. */
const SLICE_SEQUENCES = 16_384;
/** Number of postings up to which a range is searched posting by posting, and from which on as a whole. */
const NOTED_MAX = 8192;
/** A memory without any score is never found. */
const LEAST_SCORE = Number.MIN_VALUE;
/** Maximum number of unused score tables that are kept. */
const SPARE_MAX = 4;

/** Scores of a range of rows. All are 0 between two ranges. */
interface Scores {
  readonly scores: Float64Array;
  /** Positions of the range's first postings, some of them several times. */
  readonly noted: Uint16Array;
}

const spare: Scores[] = [];

/** What a segment is searched with. */
interface Scoring {
  readonly best: Best;
  readonly norms: Norms;
  readonly table: Scores;
  /** The rows that may be found; all when left out. */
  readonly allowed: Bits | undefined;
}

/**
 * Finds the `limit` living memories whose words fit a text best, best first; of equals, the one with the lower
 * log number. It answers no memory that is removed meanwhile, and may answer fewer then.
 */
export function* findWords(
  segments: readonly WordSegment[],
  { text, limit, among }: IndexQuery,
): Generator<void, WordsFound> {
  const query = yield* weigh(segments, yield* wordsIn(text, "query"));
  return { query, matches: yield* findBest(segments, query, { limit, among }) };
}

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
    if (holding > 0) weighed.push({ hash, surface: count.surface, factor });
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

function* findBest(
  segments: readonly WordSegment[],
  query: WeighedQuery,
  { limit, among }: Pick<IndexQuery, "limit" | "among">,
): Generator<void, WordMatch[]> {
  const living = segments.map((segment) => segment.living);
  const table = spare.pop() ?? { scores: new Float64Array(RANGE), noted: new Uint16Array(NOTED_MAX) };
  const search = { best: new Best(limit, LEAST_SCORE), norms: new Norms(query.meanLength), table };
  for (const segment of segments) {
    if (among !== undefined && !overlaps(segment, among)) continue;
    const allowed = among && (yield* rowsAmong(segment, among));
    const sought = yield* findQueryWords(segment, query);
    yield* new SegmentSearch(segment, { ...search, allowed }).run(sought);
  }
  // A search that was given up leaves its table behind, because it may hold scores.
  if (spare.length < SPARE_MAX) spare.push(table);
  const matches = search.best.sorted().map(({ number, score }) => ({ sequence: number, score }));
  const isUnchanged = segments.every((segment, i) => segment.living === living[i]);
  const lives = ({ sequence }: WordMatch) => segments.some((segment) => rowOf(segment, sequence) >= 0);
  return isUnchanged ? matches : matches.filter(lives);
}

/** True if some of these memories may be in a segment. */
function overlaps({ sequences }: WordSegment, among: Among): boolean {
  const [first, last] = [sequences.at(0), sequences.at(-1)];
  return first !== undefined && last !== undefined && among.countBetween(first, last) > 0;
}

/** Marks the rows of some memories. */
function* rowsAmong({ sequences }: WordSegment, among: Among): Generator<void, Bits> {
  const to = sequences.length;
  const some = among.between(sequences[0] as number, sequences[to - 1] as number);
  const rows = new Bits(to);
  let row = 0;
  for (let i = 0; i < some.length; i++) {
    const sequence = some[i] as number;
    // Often it is the next one.
    if ((sequences[row] as number) < sequence) row++;
    if ((sequences[row] as number) < sequence) row = lowerBound(sequences, sequence, { from: row, to });
    if (sequences[row] === sequence) rows.add(row);
    if (i % SLICE_SEQUENCES === SLICE_SEQUENCES - 1) yield;
  }
  return rows;
}

/** A word of a query in one segment. */
interface QueryWord {
  readonly factor: number;
  /** Position of the next posting, and of the end of all. */
  at: number;
  readonly end: number;
}

/** Finds the words of a query that a segment has. */
function* findQueryWords({ words }: WordSegment, query: WeighedQuery): Generator<void, QueryWord[]> {
  const sought: QueryWord[] = [];
  for (const [i, weighed] of query.words.entries()) {
    const word = words.find(weighed.hash);
    if (word >= 0) {
      const { from, to } = postingsOf(words.arrays, word);
      sought.push({ factor: weighed.factor, at: from, end: to });
    }
    if (i % SLICE_LOOKUPS === SLICE_LOOKUPS - 1) yield;
  }
  return sought;
}

/** Scores the rows of a segment, range by range. */
class SegmentSearch {
  /** Rows that are scored now: from one to before another. */
  #from = 0;
  #to = 0;
  /** Number of positions noted. */
  #noted = 0;

  constructor(
    private readonly segment: WordSegment,
    private readonly by: Scoring,
  ) {}

  *run(words: readonly QueryWord[]): Generator<void> {
    let read = 0;
    for (;;) {
      const sought = words.filter(({ at, end }) => at < end);
      if (sought.length === 0) return;
      this.#begin(sought);
      for (const each of sought) {
        read += 1 + this.#add(each);
        if (read < SLICE_POSTINGS) continue;
        read = 0;
        yield;
      }
      this.#end();
      yield;
    }
  }

  /** Begins at the first row that has any of the words. */
  #begin(sought: readonly QueryWord[]): void {
    const { postings, lengths } = this.segment.words.arrays;
    let first = lengths.length;
    for (const { at } of sought) first = Math.min(first, rowIn(postings[at] as number));
    this.#from = first;
    this.#to = Math.min(first + RANGE, lengths.length);
  }

  /**
   * Adds what one word gives to the rows of the range; returns the number of postings read. It has no branch that
   * depends on the scores: a wrong guess of the processor takes as long as five postings.
   */
  #add(sought: QueryWord): number {
    const { scores, noted } = this.by.table;
    const { norms } = this.by;
    const { postings, lengths } = this.segment.words.arrays;
    const { factor, at: first, end } = sought;
    const from = this.#from;
    const to = this.#to;
    let count = this.#noted;
    let at = first;
    // A row that was removed since the range began is repeated by one before the range.
    while (at < end && rowIn(postings[at] as number) < from) at++;
    for (; at < end; at++) {
      const posting = postings[at] as number;
      const row = rowIn(posting);
      if (row >= to) break;
      const position = row - from;
      if (count < NOTED_MAX) noted[count++] = position;
      const norm = norms.normFor(lengths[row] as number);
      const weight = WEIGHTS[noteIn(posting)] as number;
      scores[position] = (scores[position] as number) + gainOf(factor, weight, norm);
    }
    this.#noted = count;
    sought.at = at;
    return at - first;
  }

  /** Offers the scores, and clears them. */
  #end(): void {
    if (this.#noted < NOTED_MAX) this.#endNoted();
    else this.#endAll();
    this.#noted = 0;
  }

  #endNoted(): void {
    const { scores, noted } = this.by.table;
    let { bar } = this.by.best;
    for (let i = 0; i < this.#noted; i++) {
      const position = noted[i] as number;
      if ((scores[position] as number) >= bar) {
        this.#offer(position);
        bar = this.by.best.bar;
      }
      scores[position] = 0;
    }
  }

  #endAll(): void {
    const { scores } = this.by.table;
    const positions = this.#to - this.#from;
    let { bar } = this.by.best;
    for (let position = 0; position < positions; position++) {
      if ((scores[position] as number) < bar) continue;
      this.#offer(position);
      bar = this.by.best.bar;
    }
    scores.fill(0, 0, positions);
  }

  /** Offers a row, unless it was removed or must not be found: few get here, so no posting is asked that. */
  #offer(position: number): void {
    const { sequences, live } = this.segment;
    const row = this.#from + position;
    if (!live.has(row) || this.by.allowed?.has(row) === false) return;
    this.by.best.offer(sequences[row] as number, this.by.table.scores[position] as number);
  }
}
