import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { DayUsage } from "../api";
import { dayAndHour, hourOfDay, monthAndDay } from "../format";

const HOUR_MS = 3_600_000;
/** Hours that are shown at least, so that one bar alone does not fill the plot, and at most. */
const HOURS_MIN = 12;
export const HOURS_MAX = 48;

/** A day or an hour with what was used in it. */
export interface Slot {
  readonly key: string;
  readonly name: string;
  /** Short name for the plot's axis. */
  readonly axis: string;
  readonly stores: number;
  readonly recalls: number;
  readonly tokensStored: number;
  readonly tokensQueried: number;
}

export function daySlots(days: readonly DayUsage[]): Slot[] {
  return days.map(({ date, ...used }) => ({
    key: date,
    name: monthAndDay(date),
    axis: monthAndDay(date),
    ...used,
  }));
}

/** The last hours, back to the one in which the account was opened. */
export function hourSlots(days: readonly DayUsage[], createdAt: Timestamp | undefined): Slot[] {
  const used = new Map(
    days.flatMap(({ date, hours }) =>
      hours.map((each) => [Date.parse(`${date}T00:00:00Z`) + each.hour * HOUR_MS, each] as const),
    ),
  );
  const now = Math.floor(Date.now() / HOUR_MS);
  const opened = createdAt ? Math.floor(timestampMs(createdAt) / HOUR_MS) : 0;
  const count = Math.min(Math.max(now - opened + 1, HOURS_MIN), HOURS_MAX);
  return Array.from({ length: count }, (_, index) => {
    const startMs = (now - count + 1 + index) * HOUR_MS;
    const { stores = 0, recalls = 0, tokensStored = 0, tokensQueried = 0 } = used.get(startMs) ?? {};
    return {
      key: `${startMs}`,
      name: dayAndHour(startMs),
      axis: hourOfDay(startMs),
      stores,
      recalls,
      tokensStored,
      tokensQueried,
    };
  });
}
