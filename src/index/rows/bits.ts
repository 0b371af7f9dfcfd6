import type { Range } from "./lower-bound.js";

/** A set of row numbers below a limit; each word holds 32 of them. */
export class Bits {
  constructor(
    readonly length: number,
    readonly words: Uint32Array = new Uint32Array((length + 31) >>> 5),
  ) {}

  /** Makes the set of all rows below a limit. */
  static all(length: number): Bits {
    const all = new Bits(length);
    all.invert();
    return all;
  }

  add(row: number): void {
    const at = row >>> 5;
    this.words[at] = (this.words[at] as number) | (1 << (row & 31));
  }

  has(row: number): boolean {
    return (((this.words[row >>> 5] as number) >>> (row & 31)) & 1) === 1;
  }

  /** Lists the numbers of its rows, from one to before another. */
  list(numbers: Float64Array, { from, to }: Range): Float64Array {
    const listed = new Float64Array(this.count({ from, to }));
    let next = 0;
    for (let i = from >>> 5; i < (to + 31) >>> 5; i++) {
      // The lowest bit, again and again.
      for (let word = this.#within(i, { from, to }); word !== 0; word &= word - 1) {
        listed[next++] = numbers[32 * i + 31 - Math.clz32(word & -word)] as number;
      }
    }
    return listed;
  }

  remove(row: number): void {
    const at = row >>> 5;
    this.words[at] = (this.words[at] as number) & ~(1 << (row & 31));
  }

  /** Removes what another set, which is not shorter, has. */
  subtract(other: Bits): void {
    for (let i = 0; i < this.words.length; i++) {
      this.words[i] = (this.words[i] as number) & ~(other.words[i] as number);
    }
  }

  /** Keeps what another set, which is not shorter, has too. */
  intersect(other: Bits): void {
    for (let i = 0; i < this.words.length; i++) {
      this.words[i] = (this.words[i] as number) & (other.words[i] as number);
    }
  }

  /** Adds what another set, which is not shorter, has. */
  join(other: Bits): void {
    for (let i = 0; i < this.words.length; i++) {
      this.words[i] = (this.words[i] as number) | (other.words[i] as number);
    }
  }

  /** Turns the set into that of all other rows. */
  invert(): void {
    for (let i = 0; i < this.words.length; i++) this.words[i] = ~(this.words[i] as number);
    const rest = this.length & 31;
    const last = this.words.length - 1;
    if (rest > 0) this.words[last] = (this.words[last] as number) & (2 ** rest - 1);
  }

  /** Counts its rows from one to before another. */
  count(range: Range = { from: 0, to: this.length }): number {
    let sum = 0;
    for (let i = range.from >>> 5; i < (range.to + 31) >>> 5; i++) sum += onesIn(this.#within(i, range));
    return sum;
  }

  /** Returns a word without the rows outside of a range, of which at least one is in it. */
  #within(i: number, { from, to }: Range): number {
    let word = this.words[i] as number;
    if (word === 0) return 0;
    if (from > 32 * i) word &= -1 << (from - 32 * i);
    if (to < 32 * i + 32) word &= ~(-1 << (to - 32 * i));
    return word;
  }
}

function onesIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
