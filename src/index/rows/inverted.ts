import type { Flat, FlatArrays, MergeInput, Overwritten } from "../flat.js";
import { lowerBound, type Range } from "./lower-bound.js";

/** Postings and terms that are merged before other work may run: some tens of microseconds. */
const SLICE = 8_192;
/** Bytes that are copied before other work may run. */
const SLICE_BYTES = 1 << 20;
/** A posting is a row and a note of so many bits: in lists of words, the position of the word's weight in the row. */
const NOTE_BITS = 6;
const NOTES = 1 << NOTE_BITS;
/** Note of a removed row. It repeats the row before it in the list, so that the rows still ascend. */
export const REMOVED = NOTES - 1;

/** The rows of each of some terms, which are words, or the nodes of a tree of fields. */
export interface Lists extends FlatArrays {
  /** Where each term's postings begin; one more for the end of the last. */
  readonly offsets: Uint32Array;
  /** For each term, the number of living rows that have it. Of a term that died it is 0. */
  readonly counts: Uint32Array;
  /** Rows that have a term, ascending, and a note of each. */
  readonly postings: Uint32Array;
}

/** The rows of each term, and the terms of each row. */
export interface Inverted extends Lists {
  /** Where each row's terms begin in `forward`; one more for the end of the last. */
  readonly forwardOffsets: Uint32Array;
  /** Numbers of the terms of a row, ascending; zeros for a removed row. */
  readonly forward: Uint32Array;
}

export function postingOf(row: number, note: number): number {
  return row * NOTES + note;
}

/** The row of a posting, or the row that stands in for a removed one. */
export function rowIn(posting: number): number {
  return posting >>> NOTE_BITS;
}

export function noteIn(posting: number): number {
  return posting & REMOVED;
}

export function isRemoved(posting: number): boolean {
  return noteIn(posting) === REMOVED;
}

/** Range of the postings of a term, those of removed rows included. */
export function postingsOf({ offsets }: Lists, term: number): Range {
  return { from: offsets[term] as number, to: offsets[term + 1] as number };
}

/** Index of a row's posting in the list of a term; -1 if the row does not have the term. */
export function findPosting(lists: Lists, term: number, row: number): number {
  const { postings } = lists;
  const { from, to } = postingsOf(lists, term);
  const position = lowerBound(postings, postingOf(row, 0), { from, to });
  const posting = postings[position] as number;
  return position < to && rowIn(posting) === row && !isRemoved(posting) ? position : -1;
}

interface Removing {
  readonly overwritten: Overwritten;
  /** Called with each term whose last living row was removed: a dead term is erased. */
  died(term: number): void;
}

/** Erases a row from the lists of its terms, and the list of these. A removed row may be removed again. */
export function removeRow(lists: Inverted, row: number, removing: Removing): void {
  const { forwardOffsets, forward, postings } = lists;
  const { overwritten } = removing;
  const [from, to] = [forwardOffsets[row] as number, forwardOffsets[row + 1] as number];
  for (let at = from; at < to; at++) {
    const term = forward[at] as number;
    const position = findPosting(lists, term, row);
    // The zeros of a removed row stand for the first term.
    if (position < 0) continue;
    overwritten(postings, position, removePosting(postings, position, postingsOf(lists, term)));
    countDown(lists, term, removing);
  }
  forward.fill(0, from, to);
  overwritten(forward, from, to);
}

/** Counts one row of a term less. If none is left, the term dies. */
export function countDown({ counts }: Lists, term: number, { overwritten, died }: Removing): void {
  const left = (counts[term] as number) - 1;
  counts[term] = left;
  overwritten(counts, term, term + 1);
  if (left === 0) died(term);
}

/**
 * Removes the posting at a position from its list, and leaves all others where they are: a few bytes change, however long the
 * list is. Returns the end of the positions that were overwritten.
 */
function removePosting(postings: Uint32Array, position: number, { from, to }: Range): number {
  const repeated = postingOf(rowIn(postings[position] as number), REMOVED);
  const before = postingOf(position > from ? rowIn(postings[position - 1] as number) : 0, REMOVED);
  postings[position] = before;
  let end = position + 1;
  for (; end < to && postings[end] === repeated; end++) postings[end] = before;
  return end;
}

/** Lists that are merged term by term, in arrays that are long enough for all. */
export class MergedLists {
  /** Number of terms. */
  size = 0;
  /** Number of postings, those of the next term included. */
  end = 0;
  readonly counts: Uint32Array;
  readonly #offsets: Uint32Array;
  readonly #postings: Uint32Array;

  constructor(all: readonly Lists[]) {
    const terms = all.reduce((sum, { counts }) => sum + counts.length, 0);
    this.counts = new Uint32Array(terms);
    this.#offsets = new Uint32Array(terms + 1);
    this.#postings = new Uint32Array(all.reduce((sum, { postings }) => sum + postings.length, 0));
  }

  /** True if no row of the next term was appended. */
  get isEmpty(): boolean {
    return this.end === this.#offsets[this.size];
  }

  /** Appends the rows of a part's term, which are behind those of earlier parts, without those that are left out. */
  append({ part: { offsets, postings }, newRowOf }: MergeInput<Lists>, term: number): void {
    const [from, to] = [offsets[term] as number, offsets[term + 1] as number];
    const into = this.#postings;
    let end = this.end;
    for (let at = from; at < to; at++) {
      const posting = postings[at] as number;
      const row = isRemoved(posting) ? -1 : (newRowOf[rowIn(posting)] as number);
      if (row >= 0) into[end++] = postingOf(row, noteIn(posting));
    }
    this.end = end;
  }

  /** Ends the next term, which gets the number `size`. */
  endTerm(): void {
    this.counts[this.size] = this.end - (this.#offsets[this.size] as number);
    this.#offsets[++this.size] = this.end;
  }

  *finished(): Generator<void, Lists> {
    const offsets = yield* cut(this.#offsets, this.size + 1);
    const counts = yield* cut(this.counts, this.size);
    const postings = yield* cut(this.#postings, this.end);
    return { offsets, counts, postings };
  }
}

/** Copies the beginning of an array, so that the rest of its memory is free. */
export function* cut<T extends Flat>(array: T, length: number): Generator<void, T> {
  if (length === array.length) return array;
  const shorter = new (array.constructor as new (length: number) => T)(length);
  const slice = SLICE_BYTES / array.BYTES_PER_ELEMENT;
  for (let from = 0; from < length; from += slice) {
    shorter.set(array.subarray(from, Math.min(length, from + slice)), from);
    yield;
  }
  return shorter;
}

/** Lists the terms of each row. */
export function* forwardOf(
  { offsets, postings }: Lists,
  rows: number,
): Generator<void, Pick<Inverted, "forwardOffsets" | "forward">> {
  const forwardOffsets = new Uint32Array(rows + 1);
  for (let i = 0; i < postings.length; i++) {
    const position = rowIn(postings[i] as number) + 1;
    forwardOffsets[position] = (forwardOffsets[position] as number) + 1;
    if (i % SLICE === SLICE - 1) yield;
  }
  for (let row = 0; row < rows; row++) {
    forwardOffsets[row + 1] = (forwardOffsets[row + 1] as number) + (forwardOffsets[row] as number);
  }
  const next = forwardOffsets.slice();
  const forward = new Uint32Array(postings.length);
  for (let term = 0, work = 0; term < offsets.length - 1; term++) {
    const [from, to] = [offsets[term] as number, offsets[term + 1] as number];
    for (let at = from; at < to; at++) {
      const row = rowIn(postings[at] as number);
      const position = next[row] as number;
      next[row] = position + 1;
      forward[position] = term;
    }
    work += 1 + to - from;
    if (work < SLICE) continue;
    work = 0;
    yield;
  }
  return { forwardOffsets, forward };
}

/** Fills a column of numbers, one for each row, with those of the parts that are merged. */
export function* mergeColumn<P, C extends Uint16Array | Float64Array>(
  inputs: readonly MergeInput<P>[],
  columnOf: (part: P) => C,
  into: C,
): Generator<void, C> {
  for (const { part, newRowOf } of inputs) {
    const column = columnOf(part);
    for (let row = 0; row < column.length; row++) {
      const newRow = newRowOf[row] as number;
      if (newRow >= 0) into[newRow] = column[row] as number;
      if (row % SLICE === SLICE - 1) yield;
    }
  }
  return into;
}
