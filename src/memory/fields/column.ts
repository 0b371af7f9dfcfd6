import { CONTAINER, type Scalar, type Test, type Value } from "../filter/condition.js";
import { testerOf } from "../filter/matches.js";
import type { Bits } from "./bits.js";
import { Dictionary } from "./dictionary.js";
import { grown } from "./grown.js";
import { placeOf } from "./place-of.js";

/** Bytes of a column's objects. */
const COLUMN_BYTES = 1024;
/** Number of places or values looked at before other work may get its turn: well below a millisecond. */
const SLICE_PLACES = 65_536;
const SLICE_VALUES = 4_096;

/** Code of an array or object, and of a removed value. All others are even, and odd in arrays. */
const CONTAINER_CODE = 0xffff_fffe;
const GONE_CODE = 0xffff_ffff;

/** All values at one path: pairs of a row and a value, in the order of the rows. */
export class Column {
  readonly #values = new Dictionary();
  #rows = new Uint32Array(0);
  #codes = new Uint32Array(0);
  #size = 0;

  get bytes(): number {
    return COLUMN_BYTES + this.#values.bytes + this.#rows.byteLength + this.#codes.byteLength;
  }

  /** Adds a value of a row, which is not before any other. */
  add(row: number, value: Value, isElement: boolean): void {
    const at = this.#size++;
    this.#rows = grown(this.#rows, this.#size);
    this.#codes = grown(this.#codes, this.#size);
    this.#rows[at] = row;
    this.#codes[at] = value === CONTAINER ? CONTAINER_CODE : this.#values.take(value) * 2 + Number(isElement);
  }

  /** Removes the values of a row. */
  remove(row: number): void {
    for (let at = this.#firstOf(row); at < this.#size && this.#rows[at] === row; at++) {
      const code = this.#codes[at] as number;
      this.#codes[at] = GONE_CODE;
      if (code < CONTAINER_CODE) this.#values.release(code >>> 1);
    }
  }

  /** Adds the rows to a set that have a value which passes a test. */
  *select(test: Test, rows: Bits): Generator<void> {
    const passing = test.op === "in" ? this.#equal(test.values) : yield* this.#passing(test);
    if (passing === undefined) return;
    const isContainerIn = test.op === "exists";
    const end = this.#firstOf(rows.length);
    for (let from = 0; from < end; from += SLICE_PLACES) {
      // What is added meanwhile is beyond the set, but may have moved all to longer arrays.
      const [numbers, codes] = [this.#rows, this.#codes];
      const to = Math.min(end, from + SLICE_PLACES);
      for (let at = from; at < to; at++) {
        const code = codes[at] as number;
        const isIn = code < passing.length ? passing[code] === 1 : isContainerIn && code === CONTAINER_CODE;
        if (isIn) rows.add(numbers[at] as number);
      }
      yield;
    }
  }

  /** Marks the codes of some values by a 1; undefined if none of them is here. */
  #equal(values: ReadonlySet<Scalar>): Uint8Array | undefined {
    const numbers = [...values].map((value) => this.#values.find(value)).filter((each) => each !== undefined);
    if (numbers.length === 0) return undefined;
    const passing = new Uint8Array(this.#values.size * 2);
    for (const number of numbers) passing.fill(1, number * 2, number * 2 + 2);
    return passing;
  }

  /**
   * Marks the codes of the values that pass a test by a 1. Each value is tested once: only for `$contains` it
   * matters whether it is an element of an array.
   */
  *#passing(test: Test): Generator<void, Uint8Array> {
    const passes = testerOf(test);
    const passing = new Uint8Array(this.#values.size * 2);
    for (let number = 0; number * 2 < passing.length; number++) {
      const value = this.#values.valueOf(number);
      if (value !== undefined) {
        const alone = Number(passes(value, false));
        passing[number * 2] = alone;
        passing[number * 2 + 1] = test.op === "contains" ? Number(passes(value, true)) : alone;
      }
      if (number % SLICE_VALUES === SLICE_VALUES - 1) yield;
    }
    return passing;
  }

  /** Finds the first place of a row or of those after it. */
  #firstOf(row: number): number {
    return placeOf(this.#rows, row, this.#size);
  }
}
