/** Keeps the `limit` numbers with the highest scores, of which each is at least `least`; of equals, the lower numbers. */
export class Best {
  /** A heap: the worst kept number is at the top. */
  readonly #numbers: number[] = [];
  readonly #scores: number[] = [];

  constructor(
    private readonly limit: number,
    private readonly least = Number.NEGATIVE_INFINITY,
  ) {}

  /** Score below which a number has no chance. */
  get bar(): number {
    if (this.#scores.length < this.limit) return this.least;
    return this.#scores[0] ?? Number.POSITIVE_INFINITY;
  }

  offer(number: number, score: number): void {
    // This also leaves out what is not a number.
    if (!(score >= this.bar)) return;
    if (this.#scores.length < this.limit) this.#rise(this.#scores.length, number, score);
    else if (this.#isWorse(0, number, score)) this.#sink(number, score);
  }

  /** Lists what was kept, best first. */
  sorted(): { number: number; score: number }[] {
    const all = this.#numbers.map((number, i) => ({ number, score: this.#scores[i] as number }));
    return all.sort((a, b) => b.score - a.score || a.number - b.number);
  }

  /** True if a kept number is worse than another one. */
  #isWorse(place: number, number: number, score: number): boolean {
    const own = this.#scores[place] as number;
    return own < score || (own === score && (this.#numbers[place] as number) > number);
  }

  #rise(place: number, number: number, score: number): void {
    let at = place;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (this.#isWorse(parent, number, score)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, number, score);
  }

  #sink(number: number, score: number): void {
    let at = 0;
    for (;;) {
      const child = this.#worseChild(at);
      if (child < 0 || !this.#isWorse(child, number, score)) break;
      this.#move(child, at);
      at = child;
    }
    this.#put(at, number, score);
  }

  #worseChild(at: number): number {
    const left = at * 2 + 1;
    if (left >= this.#scores.length) return -1;
    const right = left + 1;
    if (right >= this.#scores.length) return left;
    return this.#isWorse(right, this.#numbers[left] as number, this.#scores[left] as number) ? right : left;
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#numbers[from] as number, this.#scores[from] as number);
  }

  #put(at: number, number: number, score: number): void {
    this.#numbers[at] = number;
    this.#scores[at] = score;
  }
}
