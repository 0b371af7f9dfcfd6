import { NumberHeap } from "../../number-heap.js";

/** Holds the `limit` numbers with the highest scores, of which each is at least `least`; of equals, the lower numbers. */
export class Best {
  /** The worst of the best numbers is at the top. */
  readonly #heap = new NumberHeap();

  constructor(
    private readonly limit: number,
    private readonly least = Number.NEGATIVE_INFINITY,
  ) {}

  /** Number of those in the heap. */
  get size(): number {
    return this.#heap.size;
  }

  /** Score below which a number has no chance. */
  get bar(): number {
    const { scores } = this.#heap;
    return scores.length < this.limit ? this.least : (scores[0] ?? Number.POSITIVE_INFINITY);
  }

  offer(number: number, score: number): void {
    // This also leaves out what is not a number.
    if (!(score >= this.bar)) return;
    if (this.#heap.size < this.limit) this.#heap.add(number, score);
    else if (this.#heap.isAbove(number, score)) this.#heap.replace(number, score);
  }

  /** Lists what was kept, best first. */
  sorted(): { number: number; score: number }[] {
    const { numbers, scores } = this.#heap;
    const all = numbers.map((number, i) => ({ number, score: scores[i] as number }));
    return all.sort((a, b) => b.score - a.score || a.number - b.number);
  }
}
