import { CONTAINER, type Scalar, type Test, type Value } from "../filter/condition.js";
import { testerOf } from "../filter/matches.js";
import type { Bits } from "./bits.js";
import { Dictionary } from "./dictionary.js";
import { grown } from "./grown.js";

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
    if (test.op === "exists") return yield* this.#where(rows, (code) => code !== GONE_CODE);
    if (test.op === "in") return yield* this.#equal(test.values, rows);
    const passing = yield* this.#passing(test);
    yield* this.#where(rows, (code) => code < passing.length && passing[code] === 1);
  }

  *#equal(values: ReadonlySet<Scalar>, rows: Bits): Generator<void> {
    const numbers = [...values].map((value) => this.#values.find(value)).filter((each) => each !== undefined);
    const [only] = numbers;
    if (only === undefined) return;
    if (numbers.length === 1) return yield* this.#where(rows, (code) => code >>> 1 === only);
    const sought = new Uint8Array(this.#values.size);
    for (const number of numbers) sought[number] = 1;
    yield* this.#where(rows, (code) => code < CONTAINER_CODE && sought[code >>> 1] === 1);
  }

  /** Tests each value once, alone and as an element of an array. */
  *#passing(test: Test): Generator<void, Uint8Array> {
    const passes = testerOf(test);
    const passing = new Uint8Array(this.#values.size * 2);
    for (let number = 0; number * 2 < passing.length; number++) {
      const value = this.#values.valueOf(number);
      if (value !== undefined) {
        passing[number * 2] = Number(passes(value, false));
        passing[number * 2 + 1] = Number(passes(value, true));
      }
      if (number % SLICE_VALUES === SLICE_VALUES - 1) yield;
    }
    return passing;
  }

  /** Adds rows by their codes. What is added meanwhile is beyond the set. */
  *#where(rows: Bits, holds: (code: number) => boolean): Generator<void> {
    const end = this.#firstOf(rows.length);
    for (let from = 0; from < end; from += SLICE_PLACES) {
      const [numbers, codes] = [this.#rows, this.#codes];
      const to = Math.min(end, from + SLICE_PLACES);
      for (let at = from; at < to; at++) if (holds(codes[at] as number)) rows.add(numbers[at] as number);
      yield;
    }
  }

  /** Finds the first place of a row or of those after it. */
  #firstOf(row: number): number {
    let [low, high] = [0, this.#size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#rows[middle] as number) < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
