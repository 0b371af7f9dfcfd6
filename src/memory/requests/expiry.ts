import { invalid } from "../../errors.js";

/** End of the year 9999, beyond which RFC 3339 has no times. */
const LAST_MS = 253_402_300_799_999;

/** Time from which a memory is hidden, or a key refused: a time, or how long from now. */
export type Expiry = { readonly atMs: number } | { readonly ttlMs: number };

/** Parses an expiry into a time in milliseconds; it must be in the future, and not after the year 9999. */
export function parseExpiry(expiry: Expiry | undefined, nowMs: number): number | undefined {
  if (expiry === undefined) return undefined;
  if ("ttlMs" in expiry) return parseTtl(expiry.ttlMs, nowMs);
  const { atMs } = expiry;
  if (!(atMs > nowMs)) throw invalid("expire_time", "is not in the future");
  if (atMs > LAST_MS) throw invalid("expire_time", "is after the year 9999");
  return atMs;
}

function parseTtl(ttlMs: number, nowMs: number): number {
  if (!(ttlMs > 0)) throw invalid("ttl", "is not positive; send how long it is until then");
  if (nowMs + ttlMs > LAST_MS) throw invalid("ttl", "ends after the year 9999");
  return Math.ceil(nowMs + ttlMs);
}
