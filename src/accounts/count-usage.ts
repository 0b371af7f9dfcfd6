import { type Background, type BackgroundOptions, inBackground } from "../concurrency/every.js";
import { type AccountHour, type Counts, type DayUsage, dateOf, hourOf, type Usage } from "./usage.js";

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
    const nowMs = Date.now();
    this.#add({ accountId, date: dateOf(nowMs), hour: hourOf(nowMs), ...countsOf(call, tokens) });
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

/** Counts of one call, with the tokens of its text or query. */
export function countsOf(call: "store" | "recall", tokens: number): Counts {
  const [stores, recalls] = call === "store" ? [1, 0] : [0, 1];
  return { stores, recalls, tokensStored: stores * tokens, tokensQueried: recalls * tokens };
}

/** Adds the counts of `b` to those of `a`; all else is from `a`. */
export function sum<T extends Counts>(a: T, b: Counts): T {
  const { stores, recalls, tokensStored, tokensQueried, ...rest } = a;
  const counts = {
    stores: stores + b.stores,
    recalls: recalls + b.recalls,
    tokensStored: tokensStored + b.tokensStored,
    tokensQueried: tokensQueried + b.tokensQueried,
  };
  return { ...counts, ...rest } as unknown as T;
}
