/** Time for which connections and requests are begun in one iteration of the event loop. */
const PIECE_MS_MAX = 10;

/**
 * Begins connections and requests in the order in which they come. When hundreds come at once, Node hands
 * all of them over in one iteration of the event loop: beginning each takes less than a millisecond, and
 * all of them would hold the loop for half a second. So the rest waits for the iterations that follow. The
 * limits on connections and on their streams bound how many wait.
 */
export class Pace {
  readonly #waiting: (() => void)[] = [];
  /** Time at which the first piece of work of this iteration began. */
  #begunMs: number | undefined;

  /** Begins work now if there is time, else behind all that waits, or before it if it is `urgent`. */
  begin(work: () => void, { urgent = false } = {}): void {
    if (this.#waiting.length === 0 && !this.#isOver()) work();
    else if (urgent) this.#waiting.unshift(work);
    else this.#waiting.push(work);
  }

  #isOver(): boolean {
    if (this.#begunMs === undefined) {
      this.#begunMs = performance.now();
      setImmediate(() => void this.#nextIteration());
    }
    return performance.now() - this.#begunMs >= PIECE_MS_MAX;
  }

  async #nextIteration(): Promise<void> {
    this.#begunMs = undefined;
    while (this.#waiting.length > 0 && !this.#isOver()) {
      this.#waiting.shift()?.();
      // The work that follows a callback at once counts as well.
      await undefined;
    }
  }
}
