import type { Clock } from "./clock.js";
import { yieldToEventLoop } from "./yield-to-event-loop.js";

/** Time after which work on the main thread lets other work run, so that no pause exceeds 20 ms. */
export const TIME_SLICE_MS_MAX = 5;

/** Measures how long the work has held the main thread without yielding. */
export class TimeSlice {
  readonly #endsMs: number;

  constructor(msMax = TIME_SLICE_MS_MAX) {
    this.#endsMs = performance.now() + msMax;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }
}

/** Pauses of work that looks at many places, so that other work runs. */
export class Pauses {
  #timeSlice = new TimeSlice();

  async ifDue(): Promise<void> {
    if (!this.#timeSlice.isOver) return;
    await yieldToEventLoop();
    this.#timeSlice = new TimeSlice();
  }
}

/** Runs work that yields often, and lets other work run whenever it has held the main thread for long enough. */
export async function inTimeSlices<T>(work: Generator<void, T>, clock: Pick<Clock, "yield">): Promise<T> {
  let timeSlice = new TimeSlice();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (!timeSlice.isOver) continue;
    await clock.yield();
    timeSlice = new TimeSlice();
  }
}

/** Runs work that yields often at once, because it is short. */
export function toEnd<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Works on each item as `inTimeSlices` does; returns the results in order. */
export function mapInTimeSlices<T, R>(
  items: readonly T[],
  clock: Pick<Clock, "yield">,
  work: (item: T, i: number) => R,
): Promise<R[]> {
  return inTimeSlices(eachOf(items, work), clock);
}

function* eachOf<T, R>(items: readonly T[], work: (item: T, i: number) => R): Generator<void, R[]> {
  const results: R[] = [];
  for (const [i, item] of items.entries()) {
    results.push(work(item, i));
    yield;
  }
  return results;
}
