import type { Among } from "../ports/vectors.js";
import { placeOf } from "./place-of.js";

/** The memories that a filter selected, by their log numbers in order. It does not change any more. */
export class Selection implements Among {
  constructor(readonly sequences: Float64Array) {}

  get size(): number {
    return this.sequences.length;
  }

  has(sequence: number): boolean {
    return this.sequences[this.placeOf(sequence)] === sequence;
  }

  /** Lists those with numbers from `from` to `to`. */
  between(from: number, to: number): Float64Array {
    return this.sequences.subarray(this.placeOf(from), this.placeOf(to + 1));
  }

  /** Number of those below a log number. */
  placeOf(sequence: number): number {
    return placeOf(this.sequences, sequence, this.size);
  }

  /** Makes a selection without some of its memories; the numbers are in order. */
  without(numbers: Float64Array): Selection {
    if (numbers.length === 0) return this;
    const rest = new Float64Array(this.size);
    let [count, from] = [0, 0];
    for (const number of numbers) {
      const place = this.placeOf(number);
      // It may come twice.
      if (place < from || this.sequences[place] !== number) continue;
      rest.set(this.sequences.subarray(from, place), count);
      count += place - from;
      from = place + 1;
    }
    rest.set(this.sequences.subarray(from), count);
    return new Selection(rest.subarray(0, count + this.size - from));
  }

  /** Makes a selection with other memories as well; their numbers are in order, and none is in it already. */
  with(numbers: Float64Array): Selection {
    if (numbers.length === 0) return this;
    const all = new Float64Array(this.size + numbers.length);
    let from = 0;
    for (const [i, number] of numbers.entries()) {
      const place = this.placeOf(number);
      all.set(this.sequences.subarray(from, place), from + i);
      all[place + i] = number;
      from = place;
    }
    all.set(this.sequences.subarray(from), from + numbers.length);
    return new Selection(all);
  }
}
