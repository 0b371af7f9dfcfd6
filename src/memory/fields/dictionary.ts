import type { Scalar } from "../ports/condition.js";
import { grown } from "./grown.js";

/** Number of tables that values are divided among: a large table would hold the thread while it grows. */
const SHARDS = 64;
/** Bytes of a value in the tables, and of a text beside its characters. Measured with Node 20. */
const VALUE_BYTES = 64;
const TEXT_BYTES = 24;

/** The different values at one path, each with a number that no other value ever gets. */
export class Dictionary {
  /** Bytes that it takes, about. */
  bytes = 0;
  /** Values by number; undefined once nothing has the value any more. */
  readonly #values: (Scalar | undefined)[] = [];
  #uses = new Uint32Array(0);
  readonly #shards: (Map<Scalar, number> | undefined)[] = [];

  /** Number of numbers given so far. */
  get size(): number {
    return this.#values.length;
  }

  /** Returns a value's number, which one more row has from now on. */
  take(value: Scalar): number {
    const shard = this.#shardFor(value);
    let number = shard.get(value);
    if (number === undefined) {
      number = this.#values.push(value) - 1;
      shard.set(value, number);
      this.#uses = grown(this.#uses, number + 1);
      this.bytes += bytesOf(value);
    }
    this.#uses[number] = (this.#uses[number] as number) + 1;
    return number;
  }

  #shardFor(value: Scalar): Map<Scalar, number> {
    const at = shardOf(value);
    const shard = this.#shards[at] ?? new Map<Scalar, number>();
    this.#shards[at] = shard;
    return shard;
  }

  /** Forgets a value once no row has it any more. */
  release(number: number): void {
    const left = (this.#uses[number] as number) - 1;
    this.#uses[number] = left;
    const value = this.#values[number];
    if (left > 0 || value === undefined) return;
    this.#values[number] = undefined;
    this.#shards[shardOf(value)]?.delete(value);
    this.bytes -= bytesOf(value);
  }

  find(value: Scalar): number | undefined {
    return this.#shards[shardOf(value)]?.get(value);
  }

  /** Returns a number's value; undefined if no row has it any more. */
  valueOf(number: number): Scalar | undefined {
    return this.#values[number];
  }
}

function shardOf(value: Scalar): number {
  if (typeof value === "number") return hashOfNumber(value);
  if (typeof value !== "string") return 0;
  let hash = value.length;
  // The end of a text tells numbered ones apart.
  for (let i = Math.max(0, value.length - 8); i < value.length; i++) {
    hash = (hash * 31 + value.charCodeAt(i)) | 0;
  }
  return (hash ^ (hash >>> 6) ^ (hash >>> 12)) & (SHARDS - 1);
}

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

function hashOfNumber(value: number): number {
  // Both zeros are one value.
  double[0] = value + 0;
  const mixed = Math.imul((halves[0] as number) ^ (halves[1] as number), 0x9e3779b1);
  return (mixed >>> 26) & (SHARDS - 1);
}

function bytesOf(value: Scalar): number {
  return VALUE_BYTES + (typeof value === "string" ? TEXT_BYTES + 2 * value.length : 0);
}
