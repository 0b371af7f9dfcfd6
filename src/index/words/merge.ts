import type { MergeInput } from "../flat.js";
import { cut, forwardOf, type Inverted, type Lists, MergedLists, mergeColumn } from "../rows/inverted.js";

/** Number of postings and words merged before other work may run: some tens of microseconds. */
const SLICE = 8192;

/** Everything that a part is. Its terms are words, in the order of their hashes; a posting's note is a place in `WEIGHTS`. */
export interface WordArrays extends Inverted, WordLists {}

/** The arrays of a part that merging reads. */
export interface WordLists extends Lists {
  /** Hash of each word, ascending. The entry of a word that no living row has repeats the hash before it. */
  readonly hashes: Float64Array;
  /** Number of words of each row's text, with repetitions. */
  readonly lengths: Uint16Array;
}

/**
 * Merges the arrays of parts by their sorted dictionaries into those of one with this number of rows. The new rows of
 * each part are behind those of the parts before it. Rows that are removed from a part between two yields may be in the result,
 * wholly or in part, and must be removed there, too: no word is read across a yield, and one that died since its key was
 * noted has no postings.
 */
export function* mergeWords(
  inputs: readonly MergeInput<WordLists>[],
  rows: number,
): Generator<void, WordArrays> {
  const dictionaries = new Dictionaries(inputs.map(({ part }) => part));
  const lists = new MergedLists(inputs.map(({ part }) => part));
  const hashes = new Float64Array(lists.counts.length);
  for (let work = 0; dictionaries.next(); ) {
    const before = lists.end;
    for (let i = 0; i < inputs.length; i++) {
      if (dictionaries.hashes[i] !== dictionaries.hash) continue;
      const word = dictionaries.words[i] as number;
      lists.append(inputs[i] as MergeInput<WordLists>, word);
      dictionaries.seek(i, word + 1);
      work++;
    }
    // A word that no row has is left out.
    if (!lists.isEmpty) {
      hashes[lists.size] = dictionaries.hash;
      lists.endTerm();
    }
    work += lists.end - before;
    if (work < SLICE) continue;
    work = 0;
    yield;
  }
  const merged = yield* lists.finished();
  const forward = yield* forwardOf(merged, rows);
  const lengths = yield* mergeColumn(inputs, (part) => part.lengths, new Uint16Array(rows));
  return { hashes: yield* cut(hashes, lists.size), ...merged, ...forward, lengths };
}

/** The next living word of each part. */
class Dictionaries {
  /** Hash of each part's next word; infinity after the last one. */
  readonly hashes: Float64Array;
  /** Number of each part's next word. */
  readonly words: Uint32Array;
  /** The lowest of the hashes. */
  hash = 0;

  constructor(private readonly parts: readonly WordLists[]) {
    this.hashes = new Float64Array(parts.length);
    this.words = new Uint32Array(parts.length);
    for (let i = 0; i < parts.length; i++) this.seek(i, 0);
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
    const { counts, hashes } = this.parts[i] as WordLists;
    let word = from;
    while (word < counts.length && counts[word] === 0) word++;
    this.words[i] = word;
    this.hashes[i] = hashes[word] ?? Number.POSITIVE_INFINITY;
  }
}
