import { setImmediate as nextIteration } from "node:timers/promises";
import type { Clock } from "../../src/concurrency/clock.js";

/** A clock that a test moves. A sleeper wakes up in the next iteration of the event loop, at the later time. */
export class HandClock implements Clock {
  /** Time of the steady clock. */
  atMs = 1_000;
  /** Difference of the wall clock to the steady one. */
  wallAheadMs = 1_700_000_000_000;

  nowMs = () => this.atMs;
  wallMs = () => this.wallAheadMs + this.atMs;
  random = () => 0.5;
  yield = () => nextIteration();
  sleep = async (ms: number) => {
    await nextIteration();
    this.atMs += ms;
  };
}
