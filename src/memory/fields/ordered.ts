import type { Order } from "../ports/condition.js";
import type { Bits } from "./bits.js";

/** Pairs of a chunk: sorting their numbers takes about two milliseconds. */
export const CHUNK_PAIRS = 4_096;
/** Bytes of a pair's place, once a range was looked for. */
export const PLACE_BYTES = Uint16Array.BYTES_PER_ELEMENT;

/** Pairs of a column, and the numbers among their values. */
export interface Pairs {
  readonly rows: Uint32Array;
  /** Answers the number at a place, NaN if it has none. */
  numberAt(place: number): number;
}

/** A range of numbers. */
export interface Range {
  readonly op: Order;
  readonly than: number;
}

/**
 * The places of a column's numbers, in the order of the numbers, chunk by chunk. So a range takes as long as it
 * has rows, which lie close together. It holds places only: a value that is removed is nowhere here.
 */
export class Ordered {
  /** Places within each chunk; undefined until a range is looked for, and again once a value was removed. */
  readonly #chunks: (Uint16Array | undefined)[] = [];

  /** Forgets the order around a place whose value was removed. */
  changed(place: number): void {
    const chunk = Math.floor(place / CHUNK_PAIRS);
    if (this.#chunks[chunk] !== undefined) this.#chunks[chunk] = undefined;
  }

  /** Adds the rows of a range that are in a whole chunk. */
  select(chunk: number, range: Range, { pairs, into }: { pairs: Pairs; into: Bits }): void {
    const from = chunk * CHUNK_PAIRS;
    const order = this.#orderOf(chunk, pairs);
    const [first, end] = within(order, range, (place) => pairs.numberAt(from + place));
    const rows = pairs.rows.subarray(from, from + CHUNK_PAIRS);
    for (let i = first; i < end; i++) into.add(rows[order[i] as number] as number);
  }

  #orderOf(chunk: number, { numberAt }: Pairs): Uint16Array {
    const known = this.#chunks[chunk];
    if (known !== undefined) return known;
    const numbers = Float64Array.from({ length: CHUNK_PAIRS }, (_, i) => numberAt(chunk * CHUNK_PAIRS + i));
    const places = Uint16Array.from(numbers.keys()).filter((place) => !Number.isNaN(numbers[place]));
    const order = places.sort((a, b) => (numbers[a] as number) - (numbers[b] as number));
    this.#chunks[chunk] = order;
    return order;
  }
}

/** Finds which part of an order is in a range: from its first place to before its end. */
function within(
  order: Uint16Array,
  { op, than }: Range,
  numberAt: (place: number) => number,
): [first: number, end: number] {
  const below = (isBelow: (number: number) => boolean) => {
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBelow(numberAt(order[middle] as number))) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  if (op === "lt") return [0, below((number) => number < than)];
  if (op === "lte") return [0, below((number) => number <= than)];
  if (op === "gte") return [below((number) => number < than), order.length];
  return [below((number) => number <= than), order.length];
}
