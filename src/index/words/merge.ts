import type { Inverted, WordArrays } from "./arrays.js";

/** Number of postings and words merged before other work gets its turn: some tens of microseconds. */
const SLICE = 8192;
/** A row and the place of its weight are sorted as one number of 32 bits. */
const WEIGHT_BITS = 5;
const WEIGHT_MASK = (1 << WEIGHT_BITS) - 1;

/** The arrays of a part that is merged, and the new row of each of its rows; -1 for one that is left out. */
interface Merging {
  readonly arrays: WordArrays;
  readonly newRowOf: Int32Array;
}

/**
 * Merges the arrays of parts by their sorted dictionaries. The new rows of one part ascend; those of several may
 * alternate. Rows may be removed from the parts between two yields: no word is read across a yield.
 */
export function* mergeArrays(inputs: readonly Merging[], rows: number): Generator<void, WordArrays> {
  const cursors = inputs.map((input) => new DictionaryCursor(input));
  const merged = new MergedWords(inputs);
  for (let read = 0; ; ) {
    const key = leastKey(cursors);
    if (key === Number.POSITIVE_INFINITY) break;
    for (const cursor of cursors) {
      if (cursor.key !== key) continue;
      read += 1 + merged.append(cursor);
      cursor.advance();
    }
    merged.endWord(key);
    if (read < SLICE) continue;
    read = 0;
    yield;
    for (const cursor of cursors) cursor.refresh();
  }
  const inverted = yield* merged.trimmed();
  const forward = yield* forwardOf(inverted, rows);
  return { ...inverted, ...forward, lengths: mergeLengths(inputs, rows) };
}

function leastKey(cursors: readonly DictionaryCursor[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { key } of cursors) if (key < least) least = key;
  return least;
}

/** A place in the dictionary of a part, at a living word. */
class DictionaryCursor {
  word = 0;
  /** Hash of the word as one number; infinity behind the last one. */
  key = 0;

  constructor(readonly input: Merging) {
    this.refresh();
  }

  advance(): void {
    this.word++;
    this.refresh();
  }

  /** Finds the next living word from here on: the one that was here may be dead. */
  refresh(): void {
    const { counts, low, high } = this.input.arrays;
    while (this.word < counts.length && counts[this.word] === 0) this.word++;
    this.key =
      this.word < counts.length
        ? (high[this.word] as number) * 2 ** 32 + (low[this.word] as number)
        : Number.POSITIVE_INFINITY;
  }
}

/** Merged words and their postings, in arrays that are long enough for all. */
class MergedWords {
  readonly #low: Uint32Array;
  readonly #high: Uint16Array;
  readonly #offsets: Uint32Array;
  readonly #counts: Uint32Array;
  readonly #postings: Uint32Array;
  readonly #weights: Uint8Array;
  #words = 0;
  /** Place of the present word's first posting, and of the next posting. */
  #from = 0;
  #to = 0;
  #isSorted = true;

  constructor(inputs: readonly Merging[]) {
    const sum = (name: "low" | "postings") => inputs.reduce((all, each) => all + each.arrays[name].length, 0);
    const [words, postings] = [sum("low"), sum("postings")];
    this.#low = new Uint32Array(words);
    this.#high = new Uint16Array(words);
    this.#offsets = new Uint32Array(words + 1);
    this.#counts = new Uint32Array(words);
    this.#postings = new Uint32Array(postings);
    this.#weights = new Uint8Array(postings);
  }

  /** Appends a part's postings of a word; returns how many it has. */
  append({ word, input }: DictionaryCursor): number {
    const { arrays, newRowOf } = input;
    const { postings, weights } = arrays;
    const first = arrays.offsets[word] as number;
    const count = arrays.counts[word] as number;
    const from = this.#to;
    let to = from;
    for (let at = first; at < first + count; at++) {
      const row = newRowOf[postings[at] as number] as number;
      if (row < 0) continue;
      this.#postings[to] = row;
      this.#weights[to++] = weights[at] as number;
    }
    const follows =
      from === this.#from ||
      to === from ||
      (this.#postings[from - 1] as number) < (this.#postings[from] as number);
    if (!follows) this.#isSorted = false;
    this.#to = to;
    return count;
  }

  /** Ends the present word, which is left out if no row has it. */
  endWord(key: number): void {
    const [from, to] = [this.#from, this.#to];
    if (from === to) return;
    if (!this.#isSorted) this.#sort(from, to);
    this.#low[this.#words] = key % 2 ** 32;
    this.#high[this.#words] = Math.floor(key / 2 ** 32);
    this.#counts[this.#words] = to - from;
    this.#offsets[++this.#words] = to;
    this.#from = to;
    this.#isSorted = true;
  }

  /** Copies all without the places that stayed unused. */
  *trimmed(): Generator<void, Inverted> {
    const low = this.#low.slice(0, this.#words);
    const high = this.#high.slice(0, this.#words);
    const offsets = this.#offsets.slice(0, this.#words + 1);
    const counts = this.#counts.slice(0, this.#words);
    yield;
    const postings = this.#postings.slice(0, this.#to);
    yield;
    return { low, high, offsets, counts, postings, weights: this.#weights.slice(0, this.#to) };
  }

  #sort(from: number, to: number): void {
    const [postings, weights] = [this.#postings.subarray(from, to), this.#weights.subarray(from, to)];
    const packed = postings.map((row, i) => (row << WEIGHT_BITS) | (weights[i] as number)).sort();
    for (let i = 0; i < packed.length; i++) {
      postings[i] = (packed[i] as number) >>> WEIGHT_BITS;
      weights[i] = (packed[i] as number) & WEIGHT_MASK;
    }
  }
}

/** Lists the words of each row. */
function* forwardOf(
  { offsets, postings }: Inverted,
  rows: number,
): Generator<void, Pick<WordArrays, "forwardOffsets" | "forward">> {
  const forwardOffsets = new Uint32Array(rows + 1);
  for (let from = 0; from < postings.length; from += SLICE) {
    countWords(postings.subarray(from, from + SLICE), forwardOffsets);
    yield;
  }
  for (let row = 0; row < rows; row++) {
    forwardOffsets[row + 1] = (forwardOffsets[row + 1] as number) + (forwardOffsets[row] as number);
  }
  const next = forwardOffsets.slice();
  const forward = new Uint32Array(postings.length);
  let read = 0;
  for (let word = 0; word < offsets.length - 1; word++) {
    const [from, to] = [offsets[word] as number, offsets[word + 1] as number];
    for (let at = from; at < to; at++) {
      const row = postings[at] as number;
      const place = next[row] as number;
      next[row] = place + 1;
      forward[place] = word;
    }
    read += 1 + to - from;
    if (read < SLICE) continue;
    read = 0;
    yield;
  }
  return { forwardOffsets, forward };
}

/** Adds the number of each row's words one place behind the row. */
function countWords(postings: Uint32Array, counts: Uint32Array): void {
  for (let at = 0; at < postings.length; at++) {
    const place = (postings[at] as number) + 1;
    counts[place] = (counts[place] as number) + 1;
  }
}

function mergeLengths(inputs: readonly Merging[], rows: number): Uint16Array {
  const lengths = new Uint16Array(rows);
  for (const { arrays, newRowOf } of inputs) {
    for (let row = 0; row < newRowOf.length; row++) {
      const newRow = newRowOf[row] as number;
      if (newRow >= 0) lengths[newRow] = arrays.lengths[row] as number;
    }
  }
  return lengths;
}
