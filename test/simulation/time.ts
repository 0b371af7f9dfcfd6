import type { Clock } from "../../src/concurrency/clock.js";

/** Makes a repeatable source of chance (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Wall clock of all processes at the beginning of a schedule. */
export const WALL_MS = 1_700_000_000_000;

/** Interval at which a paused process checks whether it may continue. */
const STEP_MS = 10_000;

interface Event {
  readonly atMs: number;
  readonly order: number;
  run(): void;
}

/** State of a process for its clock: a dead one never continues, a paused one does so later. */
export interface Runs {
  readonly alive: boolean;
  readonly resumesAtMs: number;
  /** Time by which its wall clock is ahead. */
  readonly aheadMs: number;
}

/** Virtual time: it jumps from event to event, and the seed alone decides what happens. */
export class VirtualTime {
  nowMs = 0;
  readonly random: () => number;
  #order = 0;
  readonly #events = new EventHeap();

  constructor(seed: number) {
    this.random = seeded(seed);
  }

  /** Returns a number from `low` up to, but not including, `high`. */
  between(low: number, high: number): number {
    return low + this.random() * (high - low);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** Picks one of several items. */
  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)] as T;
  }

  at(delayMs: number, run: () => void): void {
    this.#events.push({ atMs: this.nowMs + delayMs, order: this.#order++, run });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(ms, resolve));
  }

  /**
   * Runs events until `done` returns true.
   *
   * @throws Error when no event is left before that.
   */
  async runUntil(done: () => boolean): Promise<void> {
    for (;;) {
      // Everything that is ready runs before time moves on.
      await new Promise((resolve) => setImmediate(resolve));
      if (done()) return;
      const next = this.#events.pop();
      if (next === undefined) throw new Error(`everybody waits at ${this.nowMs} ms`);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.run();
    }
  }

  /** Makes the clock of one process. A dead one never wakes up again, a paused one late. */
  clockOf(process: Runs): Clock {
    return {
      nowMs: () => this.nowMs,
      wallMs: () => WALL_MS + this.nowMs + process.aheadMs,
      random: this.random,
      sleep: (ms) => this.whileAlive(process, this.sleep(ms)),
      yield: () => this.whileAlive(process, this.sleep(0)),
    };
  }

  /** Resolves when the process runs; never if it is dead. */
  async awake(process: Runs): Promise<void> {
    while (process.alive && process.resumesAtMs > this.nowMs) {
      // It waits in steps, because all are woken at the end.
      await this.sleep(Math.min(STEP_MS, process.resumesAtMs - this.nowMs));
    }
    if (!process.alive) await new Promise<never>(() => {});
  }

  /** Returns the outcome of a wait as the process sees it. */
  async whileAlive<T>(process: Runs, promise: Promise<T>): Promise<T> {
    try {
      return await promise;
    } finally {
      await this.awake(process);
    }
  }
}

/** Events by time; simultaneous ones are in the order of their creation. */
class EventHeap {
  readonly #events: Event[] = [];

  push(event: Event): void {
    const events = this.#events;
    let at = events.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, events[parent] as Event)) break;
      events[at] = events[parent] as Event;
      at = parent;
    }
    events[at] = event;
  }

  pop(): Event | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (last !== undefined && events.length > 0) this.#sink(last);
    return first;
  }

  #sink(event: Event): void {
    const events = this.#events;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && isBefore(events[child + 1] as Event, events[child] as Event)) child++;
      if (!isBefore(events[child] as Event, event)) break;
      events[at] = events[child] as Event;
      at = child;
    }
    events[at] = event;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
