import { setTimeout as wait } from "node:timers/promises";

/** Time and chance, so that a test can hold both in its hand. */
export interface Clock {
  /** Milliseconds that never run backwards, whatever happens to the wall clock. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** At least 0, less than 1. */
  random(): number;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms) => wait(ms),
  random: () => Math.random(),
};
