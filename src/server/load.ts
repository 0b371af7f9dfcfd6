import { callEvery } from "../concurrency/every.js";
import { unavailable } from "../errors.js";

/** Delay of the event loop, smoothed, above which calls are refused. */
export const LOOP_DELAY_MS_MAX = 500;

/** Time between two measurements of the delay. */
const LOOP_CHECK_MS = 100;

/**
 * Weight of each new measurement. A single pause, such as a garbage collection, refuses nothing; a loop that is
 * always late does after half a second.
 */
const NEW_SHARE = 0.2;
/** Longest delay that counts: a machine that slept for an hour is not busy when it goes on. */
const LAG_MS_MAX = 4 * LOOP_DELAY_MS_MAX;

/** Measures how busy this process is. */
export class Load {
  /** Delay of the event loop in milliseconds, smoothed. */
  loopDelayMs = 0;
  #dueMs = performance.now() + LOOP_CHECK_MS;
  readonly close = callEvery(LOOP_CHECK_MS, () => this.#measure());

  /**
   * Refuses a call that would have to wait too long, before its key is looked up, its body read and anything
   * charged. Health and readiness do not ask: a busy replica must still be sent calls, or the others would be
   * busier still.
   *
   * @throws MemoryError `unavailable`.
   */
  check(): void {
    if (this.loopDelayMs > LOOP_DELAY_MS_MAX) throw unavailable("the server is too busy");
  }

  #measure(): void {
    const now = performance.now();
    const lagMs = Math.min(Math.max(0, now - this.#dueMs), LAG_MS_MAX);
    this.#dueMs = now + LOOP_CHECK_MS;
    this.loopDelayMs += (lagMs - this.loopDelayMs) * NEW_SHARE;
  }
}
