import { setTimeout as wait } from "node:timers/promises";
import { yieldToEventLoop } from "./yield-to-event-loop.js";

/** Time and randomness, which a test can control. */
export interface Clock {
  /** Reads the monotonic clock, in milliseconds: it never runs backwards, whatever the wall clock does. */
  nowMs(): number;
  /** Reads the wall clock, in milliseconds since 1970. */
  wallMs(): number;
  sleep(ms: number): Promise<void>;
  /** Lets all other work that is ready run first; of what takes turns, brief work waits for other brief work alone. */
  yield(work?: "brief" | "long"): Promise<void>;
  /** Returns a random number, at least 0 and less than 1. */
  random(): number;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms) => wait(ms),
  yield: yieldToEventLoop,
  random: () => Math.random(),
};
