import { type Background, type BackgroundOptions, inBackground } from "./background.js";
import { type AccountDay, type Counts, type DayUsage, dateOf, NOTHING, type Usage } from "./usage.js";

/** Accounts' days that may wait to be written; beyond it counts are lost, which only a database that is away brings about. */
const WAITING_MAX = 10_000;

/**
 * Counts what is used in batched writes behind the calls. A process that is killed loses the last few
 * seconds; a write of unknown outcome is tried again, and may count twice. Nothing is decided by these
 * numbers: what a plan has left is counted exactly, elsewhere.
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

  /** As `Usage.read`, with all that this process counted before the call. */
  async read(of: { accountId: string; from: string }): Promise<DayUsage[]> {
    await this.#background.now();
    return this.usage.read(of);
  }

  /** As `Usage.remove`. What other processes counted and did not write yet may come after it. */
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

/** The day of `a`, with the counts of both. */
export function sum<T extends Counts>(a: T, b: Counts): T {
  return {
    ...a,
    stores: a.stores + b.stores,
    recalls: a.recalls + b.recalls,
    tokensStored: a.tokensStored + b.tokensStored,
    tokensQueried: a.tokensQueried + b.tokensQueried,
  };
}
