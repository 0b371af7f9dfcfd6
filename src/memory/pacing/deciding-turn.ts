import type { Clock } from "./clock.js";

/** Number of decided entries after which other processes get time for one. */
const DECIDED_MAX = 32;
/** That time beyond the pause after a lost race, in multiples of what one of them has taken: others read first. */
const DECISIONS_LEFT_OUT = 3;
const OTHERS_TIME_MS_MAX = 500;

export interface DecidingTurnOptions {
  readonly clock: Clock;
  /** True if no other process can write to the log. */
  readonly exclusive: boolean;
  /** Maximum of the pause after a lost race. */
  readonly pauseMsMax: number;
}

/**
 * A process's turn to decide entries of a log. The process that wrote last has nothing to read before it decides
 * again, so without pauses the others would always be too late.
 */
export class DecidingTurn {
  /** Number of entries decided in this turn, and the time when the first of them began. */
  #decided = 0;
  #sinceMs = 0;

  constructor(private readonly options: DecidingTurnOptions) {}

  get isOver(): boolean {
    return !this.options.exclusive && this.#decided >= DECIDED_MAX;
  }

  /** Begins a decision. */
  begin(): void {
    if (this.#decided === 0) this.#sinceMs = this.options.clock.nowMs();
  }

  /** Counts an entry that was decided. */
  count(): void {
    this.#decided++;
  }

  /** Ends the turn: another process has written. */
  end(): void {
    this.#decided = 0;
  }

  /** Ends the turn, and leaves other processes time to decide an entry. */
  async passOn(): Promise<void> {
    const { clock, pauseMsMax } = this.options;
    const eachMs = (clock.nowMs() - this.#sinceMs) / this.#decided;
    this.end();
    const othersMs = pauseMsMax + eachMs * DECISIONS_LEFT_OUT;
    await clock.sleep(Math.min(othersMs, OTHERS_TIME_MS_MAX));
  }
}
