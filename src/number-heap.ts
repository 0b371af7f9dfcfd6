/** Numbers with scores, as a heap: the one with the lowest score is at the top, of equals the highest number. */
export class NumberHeap {
  readonly numbers: number[] = [];
  readonly scores: number[] = [];

  get size(): number {
    return this.numbers.length;
  }

  /** True if the number at the top comes before another one. */
  isAbove(number: number, score: number): boolean {
    return this.#isBefore(0, number, score);
  }

  add(number: number, score: number): void {
    let at = this.numbers.length;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (this.#isBefore(parent, number, score)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, number, score);
  }

  /** Replaces the number at the top. */
  replace(number: number, score: number): void {
    let at = 0;
    for (;;) {
      const child = this.#firstChild(at);
      if (child < 0 || !this.#isBefore(child, number, score)) break;
      this.#move(child, at);
      at = child;
    }
    this.#put(at, number, score);
  }

  /** Takes the number at the top out; there must be one. */
  take(): number {
    const [first] = this.numbers as [number];
    const [number, score] = [this.numbers.pop() as number, this.scores.pop() as number];
    if (this.numbers.length > 0) this.replace(number, score);
    return first;
  }

  #isBefore(position: number, number: number, score: number): boolean {
    const own = this.scores[position] as number;
    return own < score || (own === score && (this.numbers[position] as number) > number);
  }

  #firstChild(at: number): number {
    const left = at * 2 + 1;
    if (left >= this.scores.length) return -1;
    const right = left + 1;
    if (right >= this.scores.length) return left;
    return this.#isBefore(right, this.numbers[left] as number, this.scores[left] as number) ? right : left;
  }

  #move(from: number, to: number): void {
    this.#put(to, this.numbers[from] as number, this.scores[from] as number);
  }

  #put(at: number, number: number, score: number): void {
    this.numbers[at] = number;
    this.scores[at] = score;
  }
}
