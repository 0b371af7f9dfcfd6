/** A set of row numbers below a limit. */
export class Bits {
  /** 32 rows in each. */
  readonly words: Uint32Array;

  constructor(readonly length: number) {
    this.words = new Uint32Array((length + 31) >>> 5);
  }

  add(row: number): void {
    const at = row >>> 5;
    this.words[at] = (this.words[at] as number) | (1 << (row & 31));
  }

  has(row: number): boolean {
    return (((this.words[row >>> 5] as number) >>> (row & 31)) & 1) === 1;
  }

  /**
   * Copies the numbers of its rows, from one on that is a multiple of 32, which other sets do not have. Those are
   * not shorter. Answers how many `into` has then.
   */
  copy(
    numbers: Float64Array,
    { from, to, outside }: { from: number; to: number; outside: readonly Bits[] },
    { into, count }: { into: Float64Array; count: number },
  ): number {
    const end = Math.min(this.words.length, (to + 31) >>> 5);
    let next = count;
    for (let i = from >>> 5; i < end; i++) {
      let word = this.words[i] as number;
      for (const other of outside) word &= ~(other.words[i] as number);
      // The lowest bit, again and again.
      for (; word !== 0; word &= word - 1) {
        into[next++] = numbers[32 * i + 31 - Math.clz32(word & -word)] as number;
      }
    }
    return next;
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

  count(): number {
    let sum = 0;
    for (let i = 0; i < this.words.length; i++) sum += onesIn(this.words[i] as number);
    return sum;
  }

  /** Returns the set itself, or a longer copy that has room for another row. */
  reserved(row: number): Bits {
    if (row < this.length) return this;
    const longer = new Bits(Math.max(1024, 2 * row));
    longer.words.set(this.words);
    return longer;
  }

  get bytes(): number {
    return this.words.byteLength;
  }
}

function onesIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
