import { type Background, type BackgroundOptions, inBackground } from "../concurrency/every.js";
import {
  type AccountHour,
  type Counts,
  type DayUsage,
  dateOf,
  hourOf,
  NOTHING,
  type Usage,
} from "./usage.js";

/** Hours of accounts that may wait to be written. Beyond it, as in a database outage, counts are lost. */
const WAITING_MAX = 10_000;

/**
 * Counts usage in batched writes that no call waits for. A process that is killed loses the last few
 * seconds; a write of unknown outcome is tried again, and may count twice. These numbers decide nothing:
 * the calls left in a plan are counted exactly, elsewhere.
 */
export class UsageCounter {
  #waiting = new Map<string, AccountHour>();
  readonly #background: Background;

  constructor(
    private readonly usage: Usage,
    options: BackgroundOptions,
  ) {
    this.#background = inBackground(() => this.#write(), options);
  }

  /** Counts a call that succeeded, with the tokens of its text or query. */
  count(accountId: string, { call, tokens }: { call: "store" | "recall"; tokens: number }): void {
    const counts =
      call === "store" ? { stores: 1, tokensStored: tokens } : { recalls: 1, tokensQueried: tokens };
    const nowMs = Date.now();
    this.#add({ accountId, date: dateOf(nowMs), hour: hourOf(nowMs), ...NOTHING, ...counts });
  }

  /** Reads usage like `Usage.read`, including all that this process counted before the call. */
  async read(request: { accountId: string; from: string }): Promise<DayUsage[]> {
    await this.#background.now();
    return this.usage.read(request);
  }

  /** Removes usage like `Usage.remove`. Counts that other processes have not written yet may follow. */
  async remove(accountId: string): Promise<void> {
    await this.#background.now();
    await this.usage.remove(accountId);
  }

  close(): Promise<void> {
    return this.#background.close();
  }

  #add(hour: AccountHour): void {
    const key = `${hour.accountId} ${hour.date} ${hour.hour}`;
    const before = this.#waiting.get(key);
    if (before === undefined && this.#waiting.size >= WAITING_MAX) return;
    this.#waiting.set(key, before === undefined ? hour : sum(before, hour));
  }

  async #write(): Promise<void> {
    const hours = [...this.#waiting.values()];
    this.#waiting = new Map();
    if (hours.length === 0) return;
    try {
      await this.usage.add(hours);
    } catch (error) {
      for (const hour of hours) this.#add(hour);
      throw error;
    }
  }
}

/** Adds the counts of `b` to those of `a`; all else is from `a`. */
export function sum<T extends Counts>(a: T, b: Counts): T {
  return {
    ...a,
    stores: a.stores + b.stores,
    recalls: a.recalls + b.recalls,
    tokensStored: a.tokensStored + b.tokensStored,
    tokensQueried: a.tokensQueried + b.tokensQueried,
  };
}
