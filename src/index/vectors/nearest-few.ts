interface Offered<T> {
  readonly item: T;
  readonly similarity: number;
}

/** Keeps the `count` items with the highest similarities, of any number that are offered one by one. */
export class NearestFew<T> {
  /** Binary heap: no item is nearer than its children, so the first is the farthest. */
  readonly #heap: Offered<T>[] = [];

  constructor(readonly count: number) {}

  /** Similarity that an item must exceed to be kept. */
  get least(): number {
    const farthest = this.#heap.length < this.count ? undefined : this.#heap[0];
    return farthest?.similarity ?? Number.NEGATIVE_INFINITY;
  }

  offer(item: T, similarity: number): void {
    // This also leaves out what is not a number.
    if (!(similarity > this.least)) return;
    if (this.#heap.length < this.count) this.#rise({ item, similarity });
    else this.#sink({ item, similarity });
  }

  /** Lists the results, the nearest first. */
  results(): Offered<T>[] {
    return this.#heap.toSorted((a, b) => b.similarity - a.similarity);
  }

  #rise(offered: Offered<T>): void {
    const heap = this.#heap;
    let at = heap.push(offered) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Offered<T>;
      if (above.similarity <= offered.similarity) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = offered;
  }

  /** Puts an item in the place of the first. */
  #sink(offered: Offered<T>): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && right.similarity < left.similarity;
      const below = isRight ? right : left;
      if (below.similarity >= offered.similarity) break;
      heap[at] = below;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = offered;
  }
}
