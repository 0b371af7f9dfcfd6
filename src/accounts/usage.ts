import { randomBytes } from "node:crypto";
import { type BackgroundOptions, every, inBackground } from "../concurrency/every.js";
import { parseWhole } from "../errors.js";
import type { Accounts } from "./account.js";
import { VISIT_MS, visitingAccounts } from "./visiting-accounts.js";

/** Number of days whose counts are stored, today included. */
export const USAGE_DAYS_MAX = 90;
const USAGE_DAYS_DEFAULT = 30;
const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;
/** Number of days up to which an answer has their hours. */
const HOURS_DAYS_MAX = 3;

/** Counts of successful calls, and of the tokens of their texts and queries. */
export interface Counts {
  readonly stores: number;
  readonly recalls: number;
  readonly tokensStored: number;
  readonly tokensQueried: number;
}

export const NOTHING: Counts = { stores: 0, recalls: 0, tokensStored: 0, tokensQueried: 0 };

export interface DayUsage extends Counts {
  /** The day in UTC, such as `2026-11-21`. */
  readonly date: string;
  /** Counts of the hours that have any, by the hour in UTC. */
  readonly hours?: Readonly<Record<number, Counts>>;
}

/** An account's usage in one hour. */
export interface AccountHour extends Counts {
  readonly accountId: string;
  readonly date: string;
  /** The hour in UTC, 0 to 23. */
  readonly hour: number;
}

/** Names a write of counts, so that one whose outcome is unknown can be repeated. */
export interface UsageWrite {
  /** The process that writes. */
  readonly by: string;
  /** Higher than those of its writes before. */
  readonly number: number;
}

/** The port to the counts of usage. Every adapter passes `test/contract/usage.ts`. */
export interface Usage {
  /**
   * Adds to the counts of these hours, each there once, and their days; may forget days older than USAGE_DAYS_MAX. A
   * write that is repeated, or comes again after a later one, counts once.
   */
  add(hours: readonly AccountHour[], write: UsageWrite): Promise<void>;
  /** Reads the account's days that have counts, from the given one on, in order. */
  read(request: { accountId: string; from: string }): Promise<DayUsage[]>;
  remove(accountId: string): Promise<void>;
  /** Finds the next account that has counts, by id; undefined after the last one. */
  nextAccount(after: string): Promise<string | undefined>;
}

/** The day in UTC, such as `2026-11-21`. */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns the last days, today included, oldest first; with their hours if they are at most `HOURS_DAYS_MAX`. */
export async function getUsage(
  usage: Pick<Usage, "read">,
  { accountId, days = USAGE_DAYS_DEFAULT }: { accountId: string; days?: number | undefined },
): Promise<DayUsage[]> {
  parseWhole("days", days, [1, USAGE_DAYS_MAX]);
  const nowMs = Date.now();
  const dates = Array.from({ length: days }, (_, i) => dateOf(nowMs - (days - 1 - i) * DAY_MS));
  const stored = await usage.read({ accountId, from: dates[0] as string });
  const byDate = new Map(stored.map((day) => [day.date, day]));
  const found = dates.map((date) => byDate.get(date) ?? { date, ...NOTHING });
  return days > HOURS_DAYS_MAX ? found.map(({ hours, ...day }) => day) : found;
}

/** Hours of accounts that may wait to be written. Beyond it, as in a database outage, counts are lost. */
const WAITING_MAX = 10_000;

/**
 * Counts usage in batched writes that no call waits for. A process that is killed loses the last few seconds. These
 * numbers decide nothing: the calls left in a plan are counted exactly, elsewhere.
 */
export function openUsageCounter(
  usage: Usage,
  options: BackgroundOptions & { readonly accounts: Pick<Accounts, "isClosed"> },
) {
  const by = randomBytes(6).toString("hex");
  let waiting = new Map<string, AccountHour>();
  /** Counts whose write has begun and may have failed: it is tried again as it is, because it may have been done. */
  let writing: readonly AccountHour[] = [];
  let writes = 0;
  const write = async () => {
    if (writing.length === 0) return;
    await usage.add(writing, { by, number: writes });
    writing = [];
    writes++;
  };
  const writeAll = async () => {
    await write();
    writing = [...waiting.values()];
    waiting = new Map();
    await write();
  };
  // Whoever closes an account removes what was written before, and this what any process wrote after that.
  const removeIfClosed = async (accountId: string) => {
    if (await options.accounts.isClosed(accountId)) await usage.remove(accountId);
  };
  const { onTrouble } = options;
  const endVisits = every(visitingAccounts(usage, removeIfClosed), { everyMs: VISIT_MS, onTrouble });
  const background = inBackground(writeAll, options);
  return {
    /** Counts a call that succeeded, with the tokens of its text or query. */
    count: (accountId: string, { call, tokens }: { call: "store" | "recall"; tokens: number }): void => {
      const hours = Math.floor(Date.now() / HOUR_MS);
      const key = `${accountId} ${hours}`;
      const hour = { accountId, date: dateOf(hours * HOUR_MS), hour: hours % 24, ...NOTHING };
      const before = waiting.get(key) ?? (waiting.size < WAITING_MAX ? hour : undefined);
      if (before !== undefined) waiting.set(key, sum(before, countsOf(call, tokens)));
    },
    /** Reads usage like `Usage.read`, including all that this process counted before the call. */
    read: async (request: { accountId: string; from: string }): Promise<DayUsage[]> => {
      await background.now();
      return usage.read(request);
    },
    /** Removes usage like `Usage.remove`. Calls that still run, and other processes, may add counts later. */
    remove: async (accountId: string): Promise<void> => {
      await background.now();
      await usage.remove(accountId);
    },
    close: async () => {
      await endVisits();
      await background.close();
    },
  };
}

/** Counts of one call, with the tokens of its text or query. */
export function countsOf(call: "store" | "recall", tokens: number): Counts {
  const [stores, recalls] = call === "store" ? [1, 0] : [0, 1];
  return { stores, recalls, tokensStored: stores * tokens, tokensQueried: recalls * tokens };
}

/** Sum of the counts; all else is from `a`. */
export function sum<T extends Counts>(a: T, b: Counts): T {
  return {
    ...a,
    stores: a.stores + b.stores,
    recalls: a.recalls + b.recalls,
    tokensStored: a.tokensStored + b.tokensStored,
    tokensQueried: a.tokensQueried + b.tokensQueried,
  };
}
