import { grown } from "./grown.js";
import { Sample } from "./sample.js";

/** Maximum length of a text in words that is kept; no text of 64 KiB has more. */
export const LENGTH_MAX = 65_535;
/** Maximum number of memories of one index, deleted ones included, because a posting has 27 bits for one. */
export const MEMORIES_MAX = 134_217_728;
/** Number of memories looked at before other work gets its turn. */
const SLICE = 16_384;
/** Farthest log number behind the first one. */
const SPAN_MAX = 2 ** 32;

/**
 * The memories of an index, numbered 0, 1, 2 and so on in the order of the log. Log numbers have gaps, and
 * grow as long as the log lives; these do not.
 */
export class Memories {
  /** Number of memories, removed ones included. */
  size = 0;
  /** Number of memories that live. */
  living = 0;
  /** Number of words of those that live. */
  words = 0;
  #sample = new Sample();
  #first = 0;
  /** Distance of each log number from the first one. */
  #distances = new Uint32Array(0);
  #lengths = new Uint16Array(0);
  /** A bit for each memory: 1 if it was removed. */
  #removed = new Uint8Array(0);

  get bytes(): number {
    return this.#distances.byteLength + this.#lengths.byteLength + this.#removed.byteLength;
  }

  /** Number of removed memories that still have a number. */
  get gone(): number {
    return this.size - this.living;
  }

  /** Log number of the last memory; 0 if there is none. */
  get last(): number {
    return this.size === 0 ? 0 : this.sequenceOf(this.size - 1);
  }

  /** Adds a memory, whose log number is above all others; answers its number here. */
  add(sequence: number, length: number): number {
    if (sequence <= this.last) throw new Error(`memory ${sequence} was added after ${this.last}`);
    if (this.size === 0) this.#first = sequence;
    const number = this.size;
    if (number >= MEMORIES_MAX || sequence - this.#first >= SPAN_MAX) throw new Error("the index is full");
    this.size++;
    this.#reserve();
    this.#distances[number] = sequence - this.#first;
    this.#lengths[number] = Math.min(LENGTH_MAX, length);
    this.living++;
    this.words += this.lengthOf(number);
    this.#sample.add(sequence);
    return number;
  }

  /** Removes a memory; answers whether it lived here. */
  remove(sequence: number): boolean {
    const number = this.find(sequence);
    if (number < 0 || !this.lives(number)) return false;
    this.#removed[number >>> 3] = (this.#removed[number >>> 3] as number) | (1 << (number & 7));
    this.living--;
    this.words -= this.lengthOf(number);
    this.#sample.remove(sequence);
    return true;
  }

  /** Returns the log numbers of a sample of the living memories, which depends on nothing but which live. */
  *sample(): Generator<void, readonly number[]> {
    if (!this.#sample.isStale) return this.#sample.sequences;
    const sample = new Sample();
    for (let number = 0; number < this.size; number++) {
      if (this.lives(number)) sample.add(this.sequenceOf(number));
      if (number % SLICE === SLICE - 1) yield;
    }
    this.#sample = sample;
    return sample.sequences;
  }

  /** Marks the memories with some log numbers, which are in order, by a 1 for each number here. */
  *numbersOf(sequences: Float64Array): Generator<void, Uint8Array> {
    const marks = new Uint8Array(this.size);
    let number = 0;
    for (let i = 0; i < sequences.length; i++) {
      const sequence = sequences[i] as number;
      // Often it is the next one.
      if (number < this.size && this.sequenceOf(number) < sequence) number++;
      if (number < this.size && this.sequenceOf(number) < sequence) number = this.firstFrom(sequence);
      if (number < this.size && this.sequenceOf(number) === sequence) marks[number] = 1;
      if (i % SLICE === SLICE - 1) yield;
    }
    return marks;
  }

  /** Finds a memory's number here; -1 if it was never added. */
  find(sequence: number): number {
    const place = this.firstFrom(sequence);
    return place < this.size && this.sequenceOf(place) === sequence ? place : -1;
  }

  /** Finds the first memory whose log number is at least this. */
  firstFrom(sequence: number): number {
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.sequenceOf(middle) < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  sequenceOf(number: number): number {
    return this.#first + (this.#distances[number] as number);
  }

  /** Number of words of each memory, for loops in which asking for each costs more than the answer is worth. */
  get lengths(): Uint16Array {
    return this.#lengths;
  }

  lengthOf(number: number): number {
    return this.#lengths[number] as number;
  }

  lives(number: number): boolean {
    return (((this.#removed[number >>> 3] as number) >>> (number & 7)) & 1) === 0;
  }

  #reserve(): void {
    this.#distances = grown(this.#distances, this.size);
    this.#lengths = grown(this.#lengths, this.size);
    this.#removed = grown(this.#removed, (this.size + 7) >>> 3);
  }
}
