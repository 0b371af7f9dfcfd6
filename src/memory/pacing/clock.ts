import { setTimeout as wait } from "node:timers/promises";
import { turn } from "./turn.js";

/** Time and chance, so that a test can hold both in its hand. */
export interface Clock {
  /** Milliseconds that never run backwards, whatever happens to the wall clock. */
  nowMs(): number;
  /** The wall clock, in milliseconds since 1970. */
  wallMs(): number;
  sleep(ms: number): Promise<void>;
  /** Lets everything else that is ready run first. */
  yield(): Promise<void>;
  /** At least 0, less than 1. */
  random(): number;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms) => wait(ms),
  yield: turn,
  random: () => Math.random(),
};
