import type { WordHash } from "../../index/words/hash.js";
import { grown } from "./grown.js";

const PLACES_MIN = 64;
/** Share of the table's places that may be taken. */
const LOAD_MAX = 0.75;

/** Numbers words by their hashes: 0, 1, 2 and so on, in the order in which they are first added. */
export class Dictionary {
  /** Number of words in it. */
  size = 0;
  /** Each word's number plus one, at a place that its hash tells; 0 is a free place. */
  #table = new Uint32Array(PLACES_MIN);
  #lows = new Uint32Array(PLACES_MIN);
  #highs = new Uint16Array(PLACES_MIN);

  get bytes(): number {
    return this.#table.byteLength + this.#lows.byteLength + this.#highs.byteLength;
  }

  /** Finds a word's number; -1 if the word is unknown. */
  find(hash: WordHash): number {
    return (this.#table[this.#placeOf(hash)] as number) - 1;
  }

  /** Finds a word's number, or gives it the next one. */
  add(hash: WordHash): number {
    let place = this.#placeOf(hash);
    const known = (this.#table[place] as number) - 1;
    if (known >= 0) return known;
    if (this.size + 1 > this.#table.length * LOAD_MAX) {
      this.#enlarge();
      place = this.#placeOf(hash);
    }
    const number = this.size++;
    this.#lows = grown(this.#lows, this.size);
    this.#highs = grown(this.#highs, this.size);
    this.#lows[number] = hash.low;
    this.#highs[number] = hash.high;
    this.#table[place] = number + 1;
    return number;
  }

  hashOf(number: number): WordHash {
    return { low: this.#lows[number] as number, high: this.#highs[number] as number };
  }

  #placeOf({ low, high }: WordHash): number {
    const mask = this.#table.length - 1;
    for (let place = low & mask; ; place = (place + 1) & mask) {
      const number = (this.#table[place] as number) - 1;
      if (number < 0 || (this.#lows[number] === low && this.#highs[number] === high)) return place;
    }
  }

  #enlarge(): void {
    const table = new Uint32Array(this.#table.length * 2);
    const mask = table.length - 1;
    for (let number = 0; number < this.size; number++) {
      let place = (this.#lows[number] as number) & mask;
      while (table[place] !== 0) place = (place + 1) & mask;
      table[place] = number + 1;
    }
    this.#table = table;
  }
}
