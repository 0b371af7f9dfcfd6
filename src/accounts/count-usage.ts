import { type Background, type BackgroundOptions, inBackground } from "../every.js";
import { type AccountDay, type Counts, type DayUsage, dateOf, NOTHING, type Usage } from "./usage.js";

/** Days of accounts that may wait to be written. Beyond it, as in a database outage, counts are lost. */
const WAITING_MAX = 10_000;

/**
 * Counts usage in batched writes that no call waits for. A process that is killed loses the last few
 * seconds; a write of unknown outcome is tried again, and may count twice. These numbers decide nothing:
 * the calls left in a plan are counted exactly, elsewhere.
 */
export class UsageCounter {
  #waiting = new Map<string, AccountDay>();
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
    this.#add({ accountId, date: dateOf(Date.now()), ...NOTHING, ...counts });
  }

  /** Reads usage like `Usage.read`, including all that this process counted before the call. */
  async read(of: { accountId: string; from: string }): Promise<DayUsage[]> {
    await this.#background.now();
    return this.usage.read(of);
  }

  /** Removes usage like `Usage.remove`. Counts that other processes have not written yet may follow. */
  async remove(accountId: string): Promise<void> {
    await this.#background.now();
    await this.usage.remove(accountId);
  }

  close(): Promise<void> {
    return this.#background.close();
  }

  #add(day: AccountDay): void {
    const key = `${day.accountId} ${day.date}`;
    const before = this.#waiting.get(key);
    if (before === undefined && this.#waiting.size >= WAITING_MAX) return;
    this.#waiting.set(key, before === undefined ? day : sum(before, day));
  }

  async #write(): Promise<void> {
    const days = [...this.#waiting.values()];
    this.#waiting = new Map();
    if (days.length === 0) return;
    try {
      await this.usage.add(days);
    } catch (error) {
      for (const day of days) this.#add(day);
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
