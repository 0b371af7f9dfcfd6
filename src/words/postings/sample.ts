/**
 * Maximum number of memories in a sample. The mean of a thousand cosines is within about 0.005 of the mean of
 * all, and small namespaces are sampled whole.
 */
export const SAMPLE_MAX = 1024;

/**
 * A sample of the living memories that depends on nothing but which memories live: those whose log numbers
 * have the lowest hashes. So deleted memories leave no trace in it.
 */
export class Sample {
  /** Sampled log numbers, in the order of their hashes. */
  #sequences: number[] = [];
  /** True if a sampled memory was removed while others were left out. */
  #isShort = false;
  #others = 0;

  /** True if it must be made again from all living memories. */
  get isStale(): boolean {
    return this.#isShort;
  }

  get sequences(): readonly number[] {
    return this.#sequences;
  }

  add(sequence: number): void {
    const last = this.#sequences.at(-1);
    const isFull = this.#sequences.length >= SAMPLE_MAX;
    if (isFull) this.#others++;
    if (isFull && last !== undefined && !precedes(sequence, last)) return;
    if (isFull) this.#sequences.pop();
    this.#sequences.splice(this.#placeOf(sequence), 0, sequence);
  }

  remove(sequence: number): void {
    const place = this.#placeOf(sequence);
    if (this.#sequences[place] !== sequence) {
      this.#others--;
      return;
    }
    this.#sequences.splice(place, 1);
    if (this.#others > 0) this.#isShort = true;
  }

  /** Finds the first sampled memory that does not precede this one. */
  #placeOf(sequence: number): number {
    let [low, high] = [0, this.#sequences.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (precedes(this.#sequences[middle] as number, sequence)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function precedes(a: number, b: number): boolean {
  const [hashOfA, hashOfB] = [hashOf(a), hashOf(b)];
  return hashOfA < hashOfB || (hashOfA === hashOfB && a < b);
}

/** Spreads neighbouring numbers over 32 bits. */
function hashOf(sequence: number): number {
  let hash = (sequence >>> 0) ^ Math.imul(Math.floor(sequence / 2 ** 32), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
