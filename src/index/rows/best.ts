import { NumberHeap } from "../../number-heap.js";

/** Keeps the `limit` numbers with the highest scores, of which each is at least `least`; of equals, the lower numbers. */
export class Best {
  /** The worst kept number is at the top. */
  readonly #kept = new NumberHeap();

  constructor(
    private readonly limit: number,
    private readonly least = Number.NEGATIVE_INFINITY,
  ) {}

  /** Number of those that are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /** Score below which a number has no chance. */
  get bar(): number {
    const { scores } = this.#kept;
    return scores.length < this.limit ? this.least : (scores[0] ?? Number.POSITIVE_INFINITY);
  }

  offer(number: number, score: number): void {
    // This also leaves out what is not a number.
    if (!(score >= this.bar)) return;
    if (this.#kept.size < this.limit) this.#kept.add(number, score);
    else if (this.#kept.isAbove(number, score)) this.#kept.replace(number, score);
  }

  /** Lists what was kept, best first. */
  sorted(): { number: number; score: number }[] {
    const { numbers, scores } = this.#kept;
    const all = numbers.map((number, i) => ({ number, score: scores[i] as number }));
    return all.sort((a, b) => b.score - a.score || a.number - b.number);
  }
}
