import { unavailable } from "../errors.js";
import { yieldToEventLoop } from "./yield-to-event-loop.js";

export interface BudgetOptions {
  /** Maximum total weight of running work; a heavier piece runs alone. */
  readonly max: number;
  /** Maximum number of waiting pieces of work, and their maximum time to wait. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** Name of the waiting work, for errors. */
  readonly what: string;
}

interface Waiter {
  readonly weight: number;
  begin(): void;
}

/** Lets work begin in the order of the requests, while the total weight of running work is within a limit. */
export class Budget {
  #used = 0;
  #waiting: Waiter[] = [];

  constructor(private readonly options: BudgetOptions) {}

  /** @throws MemoryError `unavailable` if too much waits, or for too long; the work has not begun then. */
  async run<T>(wanted: number, work: () => Promise<T>): Promise<T> {
    const weight = Math.min(wanted, this.options.max);
    if (this.#waiting.length > 0 || !this.#fits(weight)) await this.#wait(weight);
    else this.#used += weight;
    try {
      return await work();
    } finally {
      this.#used -= weight;
      this.#beginSome();
    }
  }

  #fits(weight: number): boolean {
    return this.#used + weight <= this.options.max;
  }

  #wait(weight: number): Promise<void> {
    const { waitingMax, waitMs, what } = this.options;
    if (this.#waiting.length >= waitingMax) return Promise.reject(unavailable(`too many ${what} wait`));
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        this.#beginSome();
        // Requests that came together expire together, so their answers take turns.
        void yieldToEventLoop().then(() =>
          reject(unavailable(`other ${what} took longer than ${waitMs} ms`)),
        );
      };
      const timer = setTimeout(giveUp, waitMs);
      const begin = () => {
        clearTimeout(timer);
        // Work that fails at once lets the next begin, so each gets its own turn.
        void yieldToEventLoop().then(resolve);
      };
      const waiting: Waiter = { weight, begin };
      this.#waiting.push(waiting);
    });
  }

  #beginSome(): void {
    for (let next = this.#waiting[0]; next && this.#fits(next.weight); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += next.weight;
      next.begin();
    }
  }
}
