import { isRemoved, noteIn, postingOf, rowIn } from "../rows/postings.js";
import type { Inverted, WordArrays } from "./arrays.js";

/** Number of postings and words merged before other work may run: some tens of microseconds. */
const SLICE = 8192;

/** The arrays of a part that is merged, and the new row of each of its rows; -1 for one that is left out. */
interface Merging {
  readonly arrays: WordArrays;
  readonly newRowOf: Int32Array;
}

/**
 * Merges the arrays of parts by their sorted dictionaries. The new rows of one part ascend; those of several may
 * alternate. Rows may be removed from the parts between two yields: no word is read across a yield, and one
 * that died since its key was noted has no postings.
 */
export function* mergeArrays(inputs: readonly Merging[], rows: number): Generator<void, WordArrays> {
  const dictionaries = new Dictionaries(inputs);
  const merged = new MergedWords(inputs);
  for (let read = 0; dictionaries.next(); ) {
    read += merged.addWord(dictionaries);
    if (read < SLICE) continue;
    read = 0;
    yield;
  }
  const inverted = yield* merged.trimmed();
  const forward = yield* forwardOf(inverted, rows);
  return { ...inverted, ...forward, lengths: mergeLengths(inputs, rows) };
}

/** The next living word of each part. */
class Dictionaries {
  /** Hash of each part's next word; infinity behind the last one. */
  readonly hashes: Float64Array;
  /** Number of each part's next word. */
  readonly words: Uint32Array;
  /** The lowest of the hashes. */
  hash = 0;

  constructor(readonly inputs: readonly Merging[]) {
    this.hashes = new Float64Array(inputs.length);
    this.words = new Uint32Array(inputs.length);
    for (let i = 0; i < inputs.length; i++) this.seek(i, 0);
  }

  /** Finds the lowest of the hashes; false if there is none. */
  next(): boolean {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.hashes.length; i++) {
      if ((this.hashes[i] as number) < least) least = this.hashes[i] as number;
    }
    this.hash = least;
    return least < Number.POSITIVE_INFINITY;
  }

  /** Goes on to the first living word of a part from this one on. */
  seek(i: number, from: number): void {
    const { counts, hashes } = (this.inputs[i] as Merging).arrays;
    let word = from;
    while (word < counts.length && counts[word] === 0) word++;
    this.words[i] = word;
    this.hashes[i] = hashes[word] ?? Number.POSITIVE_INFINITY;
  }
}

/** Merged words and their postings, in arrays that are long enough for all. */
class MergedWords {
  readonly #hashes: Float64Array;
  readonly #offsets: Uint32Array;
  readonly #counts: Uint32Array;
  readonly #postings: Uint32Array;
  #words = 0;
  /** Place of the next posting. */
  #end = 0;

  constructor(inputs: readonly Merging[]) {
    const sum = (name: "hashes" | "postings") =>
      inputs.reduce((all, each) => all + each.arrays[name].length, 0);
    const [words, postings] = [sum("hashes"), sum("postings")];
    this.#hashes = new Float64Array(words);
    this.#offsets = new Uint32Array(words + 1);
    this.#counts = new Uint32Array(words);
    this.#postings = new Uint32Array(postings);
  }

  /** Adds the lowest word of some parts, and steps over it there; returns the number of postings read. */
  addWord(dictionaries: Dictionaries): number {
    const { inputs, hashes, words, hash } = dictionaries;
    const from = this.#end;
    let read = 1;
    let isSorted = true;
    for (let i = 0; i < hashes.length; i++) {
      if (hashes[i] !== hash) continue;
      const word = words[i] as number;
      const place = this.#end;
      read += this.#append(inputs[i] as Merging, word);
      const hasBoth = from < place && place < this.#end;
      if (hasBoth && (this.#postings[place - 1] as number) > (this.#postings[place] as number))
        isSorted = false;
      dictionaries.seek(i, word + 1);
    }
    if (!isSorted) this.#postings.subarray(from, this.#end).sort();
    // A word that no row has is left out.
    if (from < this.#end) this.#endWord(hash, from);
    return read;
  }

  /** Appends a part's postings of a word; returns how many places it has. */
  #append({ arrays, newRowOf }: Merging, word: number): number {
    const [from, to] = [arrays.offsets[word] as number, arrays.offsets[word + 1] as number];
    let end = this.#end;
    for (let at = from; at < to; at++) {
      const posting = arrays.postings[at] as number;
      const row = isRemoved(posting) ? -1 : (newRowOf[rowIn(posting)] as number);
      if (row >= 0) this.#postings[end++] = postingOf(row, noteIn(posting));
    }
    this.#end = end;
    return to - from;
  }

  #endWord(hash: number, from: number): void {
    this.#hashes[this.#words] = hash;
    this.#counts[this.#words] = this.#end - from;
    this.#offsets[++this.#words] = this.#end;
  }

  /** Copies all without the places that stayed unused. */
  *trimmed(): Generator<void, Inverted> {
    const hashes = this.#hashes.slice(0, this.#words);
    const offsets = this.#offsets.slice(0, this.#words + 1);
    const counts = this.#counts.slice(0, this.#words);
    yield;
    return { hashes, offsets, counts, postings: this.#postings.slice(0, this.#end) };
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
      const row = rowIn(postings[at] as number);
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
    const place = rowIn(postings[at] as number) + 1;
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
