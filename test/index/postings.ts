import { isRemoved, rowIn } from "../../src/index/rows/inverted.js";

interface Lists {
  readonly offsets: Uint32Array;
  readonly postings: Uint32Array;
}

/** Lists the places of removed rows that name a row other than the first one or one that is in the same list. */
export function straysIn({ offsets, postings }: Lists): number[] {
  const strays: number[] = [];
  for (let list = 0; list < offsets.length - 1; list++) {
    const positions = Array.from(postings.subarray(offsets[list], offsets[list + 1]));
    const rows = new Set(positions.filter((posting) => !isRemoved(posting)).map(rowIn));
    rows.add(0);
    for (const [i, posting] of positions.entries()) {
      if (isRemoved(posting) && !rows.has(rowIn(posting))) strays.push((offsets[list] as number) + i);
      const before = positions[i - 1];
      if (before !== undefined && rowIn(before) > rowIn(posting)) strays.push((offsets[list] as number) + i);
    }
  }
  return strays;
}
