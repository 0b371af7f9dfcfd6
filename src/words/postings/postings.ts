import type { WordHash } from "../../index/words/hash.js";
import { type Cursor, cursorAtBlock, cursorAtOnly } from "./cursor.js";
import { Dictionary } from "./dictionary.js";
import { grown } from "./grown.js";
import { blockAfter, postingOf } from "./posting.js";
import { Slab } from "./slab.js";

/** Keeps the memories that have each word, in the order of their numbers, each with a weight. */
export class Postings {
  readonly words = new Dictionary();
  readonly #slab = new Slab();
  /** Number of postings, by word. */
  #counts = new Uint32Array(0);
  /** The only posting, or the place of the first block, by word. */
  #heads = new Uint32Array(0);
  /** Place in the last block that the next posting, or the next block's place, goes to, by word. */
  #ends = new Uint32Array(0);
  /** Number of postings that the last block has room for, by word. */
  #rooms = new Uint16Array(0);

  get bytes(): number {
    const arrays = [this.#counts, this.#heads, this.#ends, this.#rooms];
    return arrays.reduce((bytes, { byteLength }) => bytes + byteLength, this.words.bytes + this.#slab.bytes);
  }

  /** Adds a posting; the memory's number is above all others of the word. */
  add(hash: WordHash, memory: number, weightPlace: number): void {
    const word = this.words.add(hash);
    this.#reserve(word + 1);
    const count = this.#counts[word] as number;
    const posting = postingOf(memory, weightPlace);
    // Half of all words have one posting only, which needs no block.
    if (count === 0) this.#heads[word] = posting;
    else if (count === 1) this.#begin(word, posting);
    else this.#append(word, posting);
    this.#counts[word] = count + 1;
  }

  /** Number of postings of a word, removed memories included. */
  count(word: number): number {
    return word < 0 ? 0 : (this.#counts[word] as number);
  }

  /** Begins at the first posting of a word; undefined if it has none. */
  cursor(word: number): Cursor | undefined {
    const count = this.count(word);
    if (count === 0) return undefined;
    const head = this.#heads[word] as number;
    return count === 1 ? cursorAtOnly(head) : cursorAtBlock(this.#slab, head, count);
  }

  #begin(word: number, posting: number): void {
    const length = blockAfter(0);
    const block = this.#slab.reserve(length + 1);
    this.#slab.set(block, this.#heads[word] as number);
    this.#slab.set(block + 1, posting);
    this.#heads[word] = block;
    this.#ends[word] = block + 2;
    this.#rooms[word] = length - 2;
  }

  #append(word: number, posting: number): void {
    if (this.#rooms[word] === 0) this.#extend(word);
    this.#slab.set(this.#ends[word] as number, posting);
    this.#ends[word] = (this.#ends[word] as number) + 1;
    this.#rooms[word] = (this.#rooms[word] as number) - 1;
  }

  #extend(word: number): void {
    const length = blockAfter(this.#counts[word] as number);
    const block = this.#slab.reserve(length + 1);
    this.#slab.set(this.#ends[word] as number, block);
    this.#ends[word] = block;
    this.#rooms[word] = length;
  }

  #reserve(words: number): void {
    this.#counts = grown(this.#counts, words);
    this.#heads = grown(this.#heads, words);
    this.#ends = grown(this.#ends, words);
    this.#rooms = grown(this.#rooms, words);
  }
}
