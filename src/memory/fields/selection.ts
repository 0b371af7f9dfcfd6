import type { Among } from "../ports/vectors.js";
import { Bits } from "../../index/rows/bits.js";
import { placeOf } from "./place-of.js";

/** Number of memories looked at before other work may get its turn. */
const SLICE = 16_384;

/**
 * The memories that a filter selected. It does not change any more. It marks them among the numbers of all
 * memories, because half a million of them as a list take milliseconds and megabytes for each recall.
 */
export class Selection implements Among {
  readonly size: number;
  readonly #end: number;
  #listed: Float64Array | undefined;

  /**
   * @param numbers log numbers in order
   * @param rows places of those that are selected; all when left out
   */
  constructor(
    private readonly numbers: Float64Array,
    private readonly rows?: Bits,
  ) {
    this.#end = rows?.length ?? numbers.length;
    this.size = rows?.count() ?? numbers.length;
  }

  /** Lists all, in order. */
  get sequences(): Float64Array {
    this.#listed ??= this.rows?.list(this.numbers, { from: 0, to: this.#end }) ?? this.numbers;
    return this.#listed;
  }

  /** The highest log number; undefined if there is none. */
  get last(): number | undefined {
    return this.numbers[this.rows?.last() ?? this.#end - 1];
  }

  has(sequence: number): boolean {
    const row = this.#rowOf(sequence);
    return this.#isAt(row, sequence) && (this.rows?.has(row) ?? true);
  }

  between(first: number, last: number): Float64Array {
    const range = this.#range(first, last);
    return this.rows?.list(this.numbers, range) ?? this.numbers.subarray(range.from, range.to);
  }

  countBetween(first: number, last: number): number {
    const range = this.#range(first, last);
    return this.rows?.count(range) ?? Math.max(0, range.to - range.from);
  }

  /** Makes a selection without some memories. It yields often. */
  *without(sequences: Iterable<number>): Generator<void, Selection> {
    const rows = this.rows?.copy() ?? Bits.all(this.#end);
    let looked = 0;
    for (const sequence of sequences) {
      const row = this.#rowOf(sequence);
      if (this.#isAt(row, sequence)) rows.remove(row);
      if (++looked % SLICE === 0) yield;
    }
    return new Selection(this.numbers, rows);
  }

  /** Makes a selection with other memories as well, of which none is in it already. */
  with(sequences: readonly number[]): Selection {
    if (sequences.length === 0) return this;
    const all = new Float64Array(this.size + sequences.length);
    all.set(this.sequences);
    all.set(sequences, this.size);
    return new Selection(all.sort());
  }

  #range(first: number, last: number): { from: number; to: number } {
    return { from: this.#rowOf(first), to: this.#rowOf(last + 1) };
  }

  #isAt(row: number, sequence: number): boolean {
    return row < this.#end && this.numbers[row] === sequence;
  }

  #rowOf(sequence: number): number {
    return placeOf(this.numbers, sequence, this.#end);
  }
}
