import { invalid, type MemoryError } from "../../errors.js";

const FORM = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Parses a time of RFC 3339 into milliseconds since 1970; undefined if it is none. What lies between two
 * milliseconds becomes half of one: stored times are whole ones, so every comparison comes out the same.
 */
export function parseInstant(text: string): number | undefined {
  const found = FORM.exec(text);
  if (found === null) return undefined;
  const [, day, time, fraction = "", sign, hours = "0", minutes = "0"] = found;
  const wholeMs = Date.parse(`${day}T${time}Z`);
  // A day that the month does not have would become one of the next month, and the hour 24 one of the next day.
  const isTime = !Number.isNaN(wholeMs) && new Date(wholeMs).toISOString().startsWith(`${day}T${time}`);
  if (!isTime || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
  return wholeMs - offset * 60_000 + instantOf({ seconds: 0, nanos: Number(fraction.padEnd(9, "0")) });
}

/**
 * An instant or a length in milliseconds, whose parts become half of one. A double holds no nanoseconds of our time:
 * 59.999999999 seconds would become a whole minute.
 */
export function instantOf({ seconds, nanos }: { seconds: number; nanos: number }): number {
  const rest = nanos % 1_000_000;
  return seconds * 1000 + (nanos - rest) / 1_000_000 + (rest > 0 ? 0.5 : 0);
}

/** Times that RFC 3339 can write: the beginning of the year 1, and the end of the year 9999. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

/** Parses a time in milliseconds since 1970, which must be within the years 1 to 9999; undefined if there is none. */
export function parseTimeOfYears(field: string, atMs: number | undefined): number | undefined {
  if (atMs === undefined || (atMs >= FIRST_MS && atMs <= LAST_MS)) return atMs;
  throw invalid(field, "is not a time from the year 1 to the year 9999");
}

/** Time from which a memory is hidden, or a key refused: a time, or how long from now. */
export type Expiry = { readonly atMs: number } | { readonly ttlMs: number };

/** Parses an expiry into a time in milliseconds; it must be in the future, and not after the year 9999. */
export function parseExpiry(expiry: Expiry | undefined, nowMs: number): number | undefined {
  const expiresAtMs = parsePastExpiry(expiry, nowMs);
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) throw notInTheFuture();
  return expiresAtMs;
}

/** Parses an expiry like `parseExpiry`, and accepts one in the past: a retry repeats the `expire_time` of its first call. */
export function parsePastExpiry(expiry: Expiry | undefined, nowMs: number): number | undefined {
  if (expiry === undefined) return undefined;
  if ("ttlMs" in expiry) return parseTtl(expiry.ttlMs, nowMs);
  if (expiry.atMs > LAST_MS) throw invalid("expire_time", "is after the year 9999");
  return expiry.atMs;
}

export function notInTheFuture(): MemoryError {
  return invalid("expire_time", "is not in the future");
}

function parseTtl(ttlMs: number, nowMs: number): number {
  if (!(ttlMs > 0)) throw invalid("ttl", "is not positive; send how long it is until then");
  if (nowMs + ttlMs > LAST_MS) throw invalid("ttl", "ends after the year 9999");
  return Math.ceil(nowMs + ttlMs);
}
