/** Marks the place of a row that was removed. It repeats the row before it, so that the rows of a list still ascend. */
const REMOVED = 0x8000_0000;
const ROW = REMOVED - 1;

/** Places of a list of postings: from one to before another. */
export interface Places {
  readonly from: number;
  readonly to: number;
}

/** The row of a posting, or the row that stands in for a removed one. */
export function rowIn(posting: number): number {
  return posting & ROW;
}

export function isRemoved(posting: number): boolean {
  return posting >= REMOVED;
}

/** Place of a row in an ascending list; -1 if the list does not have it. */
export function findPosting(postings: Uint32Array, row: number, { from, to }: Places): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rowIn(postings[middle] as number) < row) low = middle + 1;
    else high = middle;
  }
  return low < to && postings[low] === row ? low : -1;
}

/**
 * Removes a row from a list in which it is, and leaves all others at their places: a few bytes change, however long the
 * list is. Returns the places that were overwritten.
 */
export function removePosting(postings: Uint32Array, at: number, { from, to }: Places): Places {
  const row = postings[at] as number;
  const before = REMOVED + (at > from ? rowIn(postings[at - 1] as number) : 0);
  postings[at] = before;
  let end = at + 1;
  for (; end < to && postings[end] === REMOVED + row; end++) postings[end] = before;
  return { from: at, to: end };
}
