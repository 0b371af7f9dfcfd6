import type { RateLimitStatus } from "../../accounts/key-limits.js";

/**
 * Tells where a key stands with its limits: `RateLimit-Policy` and `RateLimit`, as
 * draft-ietf-httpapi-ratelimit-headers-10 has them. A bucket is given as its size (`q`) in the seconds that
 * fill it (`w`, rounded up, so that a client that keeps to it is never refused).
 */
export function setRateLimitHeaders(header: Headers, { rate, concurrency }: RateLimitStatus): void {
  const policies: string[] = [];
  const now: string[] = [];
  if (rate !== undefined) {
    const { perSecond, burst } = rate.limit;
    policies.push(`"rate";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`);
    now.push(`"rate";r=${rate.left};t=${Math.ceil(rate.fullInMs / 1000)}`);
  }
  if (concurrency !== undefined) {
    policies.push(`"concurrency";q=${concurrency.limit};qu="concurrent-requests"`);
    now.push(`"concurrency";r=${concurrency.left}`);
  }
  if (policies.length === 0) return;
  header.set("ratelimit-policy", policies.join(", "));
  header.set("ratelimit", now.join(", "));
}
