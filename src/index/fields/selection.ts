import type { Among } from "../../memory/ports/index.js";
import { Bits } from "../rows/bits.js";
import { lowerBound, type Range } from "../rows/lower-bound.js";

/** Selected rows of a segment. */
export interface SelectedRows {
  /** Log numbers of the segment's memories, in order. */
  readonly sequences: Float64Array;
  readonly rows: Bits;
}

/**
 * The memories that a filter selected. It does not change any more. It marks them among the rows of segments,
 * because half a million of them as a list take milliseconds and megabytes for each recall.
 */
export class Selection implements Among {
  readonly size: number;
  #listed: Float64Array | undefined;

  constructor(private readonly parts: readonly SelectedRows[]) {
    this.size = parts.reduce((sum, { rows }) => sum + rows.count(), 0);
  }

  /** Makes a selection of memories by their log numbers, which are in order. */
  static from(sequences: Float64Array): Selection {
    return new Selection([{ sequences, rows: Bits.all(sequences.length) }]);
  }

  /** Lists all, in order. */
  get sequences(): Float64Array {
    this.#listed ??= this.between(0, Number.POSITIVE_INFINITY);
    return this.#listed;
  }

  has(sequence: number): boolean {
    for (const { sequences, rows } of this.parts) {
      if (!((sequences[0] as number) <= sequence && sequence <= (sequences.at(-1) as number))) continue;
      const row = lowerBound(sequences, sequence);
      if (sequences[row] === sequence) return rows.has(row);
    }
    return false;
  }

  countBetween(first: number, last: number): number {
    let sum = 0;
    for (const part of this.parts) {
      const { from, to } = rangeIn(part, first, last);
      if (from < to) sum += part.rows.count({ from, to });
    }
    return sum;
  }

  between(first: number, last: number): Float64Array {
    const lists: Float64Array[] = [];
    for (const part of this.parts) {
      const { from, to } = rangeIn(part, first, last);
      const list = from < to ? part.rows.list(part.sequences, { from, to }) : new Float64Array(0);
      if (list.length > 0) lists.push(list);
    }
    return joined(lists);
  }

  /** Makes a selection with other memories as well, of which none is in it already. */
  with(sequences: readonly number[]): Selection {
    if (sequences.length === 0) return this;
    return Selection.from(joined([this.sequences, Float64Array.from(sequences)]).sort());
  }
}

function rangeIn({ sequences }: SelectedRows, first: number, last: number): Range {
  return { from: lowerBound(sequences, first), to: lowerBound(sequences, last + 1) };
}

/** Joins lists, and sorts them if they are not one behind the other. */
function joined(lists: readonly Float64Array[]): Float64Array {
  if (lists.length === 1) return lists[0] as Float64Array;
  const all = new Float64Array(lists.reduce((sum, list) => sum + list.length, 0));
  let [end, isSorted] = [0, true];
  for (const list of lists) {
    isSorted &&= end === 0 || (all[end - 1] as number) < (list[0] as number);
    all.set(list, end);
    end += list.length;
  }
  return isSorted ? all : all.sort();
}
