import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** Value by which the contract says that a plan has no limit. */
export const UNLIMITED_CALLS = 2_147_483_647;

const whole = new Intl.NumberFormat("en");
const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const date = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const second = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hourCycle: "h23",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const hour = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const hourAlone = new Intl.DateTimeFormat("en", hour);
const dayWithHour = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", ...hour });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export function count(n: number): string {
  return whole.format(n);
}

/** Writes a number with its noun: `1 memory`, `2 memories`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

export function bytes(n: number | bigint): string {
  const size = Number(n);
  // The spaces do not break.
  if (size < 1_000) return `${size}\u00a0B`;
  if (size < 1_000_000) return `${(size / 1_000).toFixed(1)}\u00a0kB`;
  if (size < 1_000_000_000) return `${(size / 1_000_000).toFixed(1)}\u00a0MB`;
  return `${(size / 1_000_000_000).toFixed(1)}\u00a0GB`;
}

export function dateTime(time: Timestamp | undefined): string {
  return time === undefined ? "" : moment.format(timestampDate(time));
}

/** Writes the day of a time: `Nov 22, 2026`. */
export function day(time: Timestamp): string {
  return date.format(timestampDate(time));
}

/** Writes a time of the last days to the second: `Nov 22, 21:05:09`. */
export function exactTime(time: Timestamp | undefined): string {
  return time === undefined ? "" : second.format(timestampDate(time));
}

/** Writes a time relative to now: `3 hours ago`, `in 2 days`, `just now`. */
export function ago(time: Timestamp | undefined, now = Date.now()): string {
  if (time === undefined) return "never";
  const seconds = (timestampDate(time).getTime() - now) / 1_000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  }
  return "just now";
}

/** Writes a day of the contract, `2026-11-21`, as `Nov 21`. */
export function monthAndDay(date: string): string {
  const format = { month: "short", day: "numeric", timeZone: "UTC" } as const;
  return new Date(`${date}T00:00:00Z`).toLocaleDateString("en", format);
}

/** Writes an hour of the user's day: `14:00`. */
export function hourOfDay(ms: number): string {
  return hourAlone.format(ms);
}

/** Writes an hour with its day: `Nov 21, 14:00`. */
export function dayAndHour(ms: number): string {
  return dayWithHour.format(ms);
}
