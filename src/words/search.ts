import { Best } from "../index/words/best.js";
import { gainOf, Norms } from "../index/words/scoring.js";
import { WEIGHTS } from "../index/words/weights.js";
import type { WeighedQuery, WordQuery } from "../memory/ports/words.js";
import type { Contents, Sought } from "./contents.js";
import { MEMORIES_MAX } from "./postings/memories.js";
import { memoryOf, weightPlaceOf } from "./postings/posting.js";

/**
 * Number of memories scored at a time: their scores stay in the processor's cache, and a search takes the
 * same memory whatever the size of the index.
 */
const RANGE = 32_768;
/** Number of postings, or of words without one, read before other work gets its turn. */
const SLICE_POSTINGS = 8192;
/** Number of postings up to which a range is searched place by place, and from which on as a whole. */
const NOTED_MAX = 8192;
/** Maximum number of unused score tables that are kept. */
const SPARE_MAX = 4;

/** Scores of a range of memories. All are 0 between two ranges. */
interface Scores {
  readonly scores: Float64Array;
  /** Places of the range's first postings, some of them several times. */
  readonly noted: Uint16Array;
}

const spare: Scores[] = [];

/** Means of scoring memories. */
interface Scoring {
  readonly table: Scores;
  readonly norms: Norms;
  /** A 1 for each memory that may be found; all may when left out. */
  readonly allowed: Uint8Array | undefined;
}

/** Finds the `limit` memories with the highest scores, best first; of equals, the oldest first. */
export function* findBest(
  contents: Contents,
  query: WeighedQuery,
  { limit, among }: Pick<WordQuery, "limit" | "among">,
): Generator<void, { sequence: number; score: number }[]> {
  const best = new Best(limit);
  const allowed = among && (yield* contents.memories.numbersOf(among));
  const norms = new Norms(query.meanLength);
  const taken = spare.pop() ?? { scores: new Float64Array(RANGE), noted: new Uint16Array(NOTED_MAX) };
  const range = new Range(contents, { table: taken, norms, allowed });
  let sought = yield* contents.seek(query);
  while (sought.length > 0) {
    yield* range.begin(sought);
    for (const each of sought) yield* range.add(each);
    range.end(best);
    sought = sought.filter(({ cursor }) => cursor.at < cursor.end);
    yield;
  }
  // A search that was given up leaves its table behind, because it may hold scores.
  if (spare.length < SPARE_MAX) spare.push(taken);
  const { memories } = contents;
  return best.sorted().map(({ number, score }) => ({ sequence: memories.sequenceOf(number), score }));
}

/** The memories that are scored now. */
class Range {
  #from = 0;
  #to = 0;
  /** Number of places noted. */
  #noted = 0;
  #read = 0;

  constructor(
    private readonly contents: Contents,
    private readonly by: Scoring,
  ) {}

  /** Begins at the first memory that has any of the words. */
  *begin(sought: readonly Sought[]): Generator<void> {
    // Not infinity, with which the loop over postings would compute in floating point.
    let first = MEMORIES_MAX;
    for (const { cursor } of sought) {
      first = Math.min(first, memoryOf(cursor.page[cursor.at] as number));
      if (this.#isDue(1)) yield;
    }
    this.#from = first;
    this.#to = first + RANGE;
  }

  /** Adds what one word gives to the memories of the range. */
  *add({ cursor, factor }: Sought): Generator<void> {
    for (;;) {
      const from = cursor.at;
      this.#addBlock(cursor, factor);
      if (this.#isDue(1 + cursor.at - from)) yield;
      if (cursor.at < cursor.end || !cursor.advance()) return;
    }
  }

  /** Offers the scores, and clears them. */
  end(best: Best): void {
    if (this.#noted < NOTED_MAX) this.#endNoted(best);
    else this.#endAll(best);
    this.#noted = 0;
  }

  #endNoted(best: Best): void {
    const { scores, noted } = this.by.table;
    let { bar } = best;
    for (let i = 0; i < this.#noted; i++) {
      const place = noted[i] as number;
      if ((scores[place] as number) >= bar) {
        this.#offer(place, best);
        bar = best.bar;
      }
      scores[place] = 0;
    }
  }

  #endAll(best: Best): void {
    const { scores } = this.by.table;
    let { bar } = best;
    for (let place = 0; place < RANGE; place++) {
      if ((scores[place] as number) < bar) continue;
      this.#offer(place, best);
      bar = best.bar;
    }
    scores.fill(0);
  }

  /** Offers a memory, unless it was removed or must not be found: few get here, so no posting is asked that. */
  #offer(place: number, best: Best): void {
    const memory = this.#from + place;
    if (!this.contents.memories.lives(memory)) return;
    if (this.by.allowed !== undefined && this.by.allowed[memory] !== 1) return;
    best.offer(memory, this.by.table.scores[place] as number);
  }

  /** Has no branch that depends on the scores: a wrong guess of the processor takes as long as five postings. */
  #addBlock(cursor: Sought["cursor"], factor: number): void {
    const { scores, noted } = this.by.table;
    const { norms } = this.by;
    const { lengths } = this.contents.memories;
    const { page, end } = cursor;
    const from = this.#from;
    const to = this.#to;
    let count = this.#noted;
    let at = cursor.at;
    for (; at < end; at++) {
      const posting = page[at] as number;
      const memory = memoryOf(posting);
      if (memory >= to) break;
      const place = memory - from;
      if (count < NOTED_MAX) noted[count++] = place;
      const norm = norms.of(lengths[memory] as number);
      scores[place] =
        (scores[place] as number) + gainOf(factor, WEIGHTS[weightPlaceOf(posting)] as number, norm);
    }
    this.#noted = count;
    cursor.at = at;
  }

  #isDue(read: number): boolean {
    this.#read += read;
    if (this.#read < SLICE_POSTINGS) return false;
    this.#read = 0;
    return true;
  }
}
