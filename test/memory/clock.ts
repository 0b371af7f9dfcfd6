import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../src/memory/pacing/clock.js";

/** A clock in a test's hand: who sleeps wakes up in the next turn, and as much later. */
export class HandClock implements Clock {
  /** What the steady clock says. */
  atMs = 1_000;
  /** What the wall clock says more. */
  wallAheadMs = 1_700_000_000_000;

  nowMs = () => this.atMs;
  wallMs = () => this.wallAheadMs + this.atMs;
  random = () => 0.5;
  yield = () => nextTurn();
  sleep = async (ms: number) => {
    await nextTurn();
    this.atMs += ms;
  };
}
