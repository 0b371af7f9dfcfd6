import type { Clock } from "../../src/memory/clock.js";

/** A repeatable source of chance (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Event {
  readonly atMs: number;
  readonly order: number;
  run(): void;
}

/** Virtual time: it jumps from event to event, and what happens depends on the seed alone. */
export class VirtualTime {
  nowMs = 0;
  readonly random: () => number;
  #order = 0;
  #events: Event[] = [];

  constructor(seed: number) {
    this.random = seeded(seed);
  }

  /** At least `low`, less than `high`. */
  between(low: number, high: number): number {
    return low + this.random() * (high - low);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  at(delayMs: number, run: () => void): void {
    this.#events.push({ atMs: this.nowMs + delayMs, order: this.#order++, run });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(ms, resolve));
  }

  /** Runs events until `done` says so; throws when nothing is left to happen before. */
  async runUntil(done: () => boolean): Promise<void> {
    for (;;) {
      // All that is ready runs before time moves on.
      await new Promise((resolve) => setImmediate(resolve));
      if (done()) return;
      const next = this.#takeNext();
      if (next === undefined) throw new Error(`everybody waits at ${this.nowMs} ms`);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.run();
    }
  }

  #takeNext(): Event | undefined {
    let best = 0;
    for (let i = 1; i < this.#events.length; i++) {
      const [a, b] = [this.#events[i] as Event, this.#events[best] as Event];
      if (a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)) best = i;
    }
    return this.#events.splice(best, 1)[0];
  }

  /** The clock of one process; a dead one never wakes up again. */
  clockOf(process: { readonly alive: boolean }): Clock {
    return {
      nowMs: () => this.nowMs,
      wallMs: () => 1_700_000_000_000 + this.nowMs,
      random: this.random,
      sleep: (ms) => this.whileAlive(process, this.sleep(ms)),
      yield: () => this.whileAlive(process, this.sleep(0)),
    };
  }

  async whileAlive<T>(process: { readonly alive: boolean }, promise: Promise<T>): Promise<T> {
    try {
      const value = await promise;
      return process.alive ? value : await new Promise<never>(() => {});
    } catch (error) {
      throw process.alive ? error : await new Promise<never>(() => {});
    }
  }
}
