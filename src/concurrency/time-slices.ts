import type { Clock } from "./clock.js";
import { yieldToEventLoop } from "./yield-to-event-loop.js";

/** Time after which work on the main thread lets other work run: a recall waits for some slices of others' work. */
export const TIME_SLICE_MS_MAX = 2;

/** The time for which work may hold the main thread, again and again: it ends with a yield, and the next begins. */
export class TimeSlice {
  #endsMs: number;

  constructor(
    private readonly clock: Pick<Clock, "yield"> = { yield: yieldToEventLoop },
    private readonly msMax = TIME_SLICE_MS_MAX,
  ) {
    this.#endsMs = performance.now() + msMax;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }

  /** Lets other work run, and begins anew. */
  async end(): Promise<void> {
    await this.clock.yield();
    this.#endsMs = performance.now() + this.msMax;
  }

  async endIfOver(): Promise<void> {
    if (this.isOver) await this.end();
  }
}

/** Runs work that yields often, and lets other work run whenever it has held the main thread for long enough. */
export async function inTimeSlices<T>(work: Generator<void, T>, clock?: Pick<Clock, "yield">): Promise<T> {
  const timeSlice = new TimeSlice(clock);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (timeSlice.isOver) await timeSlice.end();
  }
}

/** Runs work that yields often without letting other work run, because it is short. */
export function runToEnd<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Works on each item as `inTimeSlices` does; returns the results in order. */
export async function mapInTimeSlices<T, R>(
  items: readonly T[],
  clock: Pick<Clock, "yield">,
  work: (item: T, i: number) => R,
): Promise<R[]> {
  const timeSlice = new TimeSlice(clock);
  const results: R[] = [];
  for (const [i, item] of items.entries()) {
    results.push(work(item, i));
    if (timeSlice.isOver) await timeSlice.end();
  }
  return results;
}
