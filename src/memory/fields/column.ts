import { testerOf } from "../filter/matches.js";
import { CONTAINER, type Scalar, type Test, type Value } from "../ports/condition.js";
import type { Bits } from "./bits.js";
import { Dictionary } from "./dictionary.js";
import { grown } from "./grown.js";
import { CHUNK_PAIRS, Ordered, type Pairs, PLACE_BYTES, type Range } from "./ordered.js";
import { passingIn } from "./passing.js";
import { placeOf } from "./place-of.js";

/** Bytes of a column's objects. */
const COLUMN_BYTES = 1024;
/** Number of places looked at before other work may get its turn: well below a millisecond. */
const SLICE_PLACES = 65_536;

/** Code of an array or object, and of a removed value. All others are even, and odd in arrays. */
const CONTAINER_CODE = 0xffff_fffe;
const GONE_CODE = 0xffff_ffff;

/** All values at one path: pairs of a row and a value, in the order of the rows. */
export class Column {
  readonly #values = new Dictionary();
  readonly #ordered = new Ordered();
  #rows = new Uint32Array(0);
  #codes = new Uint32Array(0);
  #size = 0;

  get bytes(): number {
    // The order counts before it is there, because it comes with a filter and not with a memory.
    const pairs = this.#rows.byteLength + this.#codes.byteLength + this.#rows.length * PLACE_BYTES;
    return COLUMN_BYTES + this.#values.bytes + pairs;
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
      this.#ordered.changed(at);
      if (code < CONTAINER_CODE) this.#values.release(code >>> 1);
    }
  }

  /** Adds the rows to a set that have a value which passes a test. */
  *select(test: Test, rows: Bits): Generator<void> {
    if ("than" in test && typeof test.than === "number") {
      yield* this.#selectRange({ op: test.op, than: test.than }, rows);
      return;
    }
    // One value needs no table of all values.
    const single =
      test.op === "in" && test.values.size === 1 ? this.#values.find(only(test.values)) : undefined;
    const passing = single === undefined ? yield* passingIn(this.#values, test) : undefined;
    if (single === undefined && passing === undefined) return;
    const end = this.#firstOf(rows.length);
    for (let from = 0; from < end; from += SLICE_PLACES) {
      const slice = { rows, from, to: Math.min(end, from + SLICE_PLACES) };
      if (single !== undefined) this.#addEqual(single, slice);
      else if (passing !== undefined) this.#addPassing(passing, slice);
      yield;
    }
  }

  /** Adds the rows whose number is in a range: whole chunks by their order, and those behind one by one. */
  *#selectRange(range: Range, into: Bits): Generator<void> {
    const end = this.#firstOf(into.length);
    const whole = Math.floor(end / CHUNK_PAIRS);
    for (let chunk = 0; chunk < whole; chunk++) {
      this.#ordered.select(chunk, range, { pairs: this.#pairs, into });
      yield;
    }
    const passes = testerOf(range);
    for (let at = whole * CHUNK_PAIRS; at < end; at++) {
      if (passes(this.#numberAt(at), false)) into.add(this.#rows[at] as number);
    }
  }

  get #pairs(): Pairs {
    return { rows: this.#rows, numberAt: (place) => this.#numberAt(place) };
  }

  /** Answers the number at a place; NaN if it has another value, or none any more. */
  #numberAt(place: number): number {
    const code = this.#codes[place] as number;
    const value = code < CONTAINER_CODE ? this.#values.valueOf(code >>> 1) : undefined;
    return typeof value === "number" ? value : Number.NaN;
  }

  /** Adds the rows that have a value, alone or in an array. */
  #addEqual(number: number, { rows, from, to }: { rows: Bits; from: number; to: number }): void {
    const [numbers, codes] = [this.#rows, this.#codes];
    const alone = 2 * number;
    for (let at = from; at < to; at++) {
      const code = codes[at] as number;
      if (code === alone || code === alone + 1) rows.add(numbers[at] as number);
    }
  }

  /** Adds rows without a branch for each: where they pass at random, it would be guessed wrong half of the time. */
  #addPassing(
    passing: Uint8Array,
    { rows: { words }, from, to }: { rows: Bits; from: number; to: number },
  ): void {
    // What is added meanwhile is beyond the set, but may have moved all to longer arrays.
    const [numbers, codes] = [this.#rows, this.#codes];
    const others = passing.length - 2;
    let [place, word] = [0, words[0] as number];
    for (let at = from; at < to; at++) {
      const row = numbers[at] as number;
      if (row >>> 5 !== place) {
        words[place] = word;
        place = row >>> 5;
        word = words[place] as number;
      }
      const code = codes[at] as number;
      // The code of what is no value is even for arrays and objects, and odd for what was removed.
      const passes = passing[code < others ? code : others + (code & 1)] as number;
      word |= passes << (row & 31);
    }
    words[place] = word;
  }

  /** Finds the first place of a row or of those after it. */
  #firstOf(row: number): number {
    return placeOf(this.#rows, row, this.#size);
  }
}

function only(values: ReadonlySet<Scalar>): Scalar {
  const [value = null] = values;
  return value;
}
