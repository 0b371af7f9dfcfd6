import { lowerBound } from "./lower-bound.js";

/** A posting is a row and a note of so many bits: in lists of words, the place of the word's weight in the row. */
const NOTE_BITS = 6;
const NOTES = 1 << NOTE_BITS;
/** Note of a removed row. It repeats the row before it in the list, so that the rows still ascend. */
export const REMOVED = NOTES - 1;

/** Places of a list of postings: from one to before another. */
export interface Places {
  readonly from: number;
  readonly to: number;
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

/** Place of a row in an ascending list; -1 if the list does not have it. */
export function findPosting(postings: Uint32Array, row: number, { from, to }: Places): number {
  const place = lowerBound(postings, postingOf(row, 0), { from, to });
  const posting = postings[place] as number;
  return place < to && rowIn(posting) === row && !isRemoved(posting) ? place : -1;
}

/**
 * Removes the row of a place from its list, and leaves all others where they are: a few bytes change, however long the
 * list is. Returns the places that were overwritten.
 */
export function removePosting(postings: Uint32Array, place: number, { from, to }: Places): Places {
  const repeated = postingOf(rowIn(postings[place] as number), REMOVED);
  const before = postingOf(place > from ? rowIn(postings[place - 1] as number) : 0, REMOVED);
  postings[place] = before;
  let end = place + 1;
  for (; end < to && postings[end] === repeated; end++) postings[end] = before;
  return { from: place, to: end };
}
