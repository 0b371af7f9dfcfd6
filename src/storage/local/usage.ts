import type { Database, RootDatabase } from "lmdb";
import {
  type AccountHour,
  type Counts,
  DAY_MS,
  type DayUsage,
  dateOf,
  NOTHING,
  sum,
  USAGE_DAYS_MAX,
  type Usage,
} from "../../accounts/usage.js";
import { durably, reading } from "./durably.js";

type StoredDay = Omit<DayUsage, "date">;
type Key = [accountId: string, date: string];
/** Key that sorts after every date. */
const AFTER_ALL = "~";

export class LocalUsage implements Usage {
  readonly #days: Database<StoredDay, Key>;

  constructor(root: RootDatabase) {
    this.#days = root.openDB("usage", { encoding: "json" });
  }

  async add(hours: readonly AccountHour[]): Promise<void> {
    const before = dateOf(Date.now() - USAGE_DAYS_MAX * DAY_MS);
    await durably(this.#days, () => {
      for (const { accountId, date, hour, ...counts } of hours) {
        this.#forget(accountId, before);
        const day: StoredDay = this.#days.get([accountId, date]) ?? NOTHING;
        const inHour = sum<Counts>(day.hours?.[hour] ?? NOTHING, counts);
        this.#days.putSync([accountId, date], {
          ...sum(day, counts),
          hours: { ...day.hours, [hour]: inHour },
        });
      }
    });
  }

  async read({ accountId, from }: Parameters<Usage["read"]>[0]): Promise<DayUsage[]> {
    return reading(() => {
      const found = this.#days.getRange({ start: [accountId, from], end: [accountId, AFTER_ALL] });
      return [...found].map(({ key, value }) => ({ date: key[1], ...value }));
    });
  }

  async remove(accountId: string): Promise<void> {
    await durably(this.#days, () => this.#forget(accountId, AFTER_ALL));
  }

  #forget(accountId: string, before: string): void {
    const old = [...this.#days.getKeys({ start: [accountId, ""], end: [accountId, before] })];
    for (const key of old) this.#days.removeSync(key);
  }
}
