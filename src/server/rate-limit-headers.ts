import type { RateLimitStatus } from "../accounts/plan-limits.js";
import type { Call } from "./call.js";

/**
 * Headers on the state of a key's limits: `RateLimit-Policy` and `RateLimit`, as
 * draft-ietf-httpapi-ratelimit-headers-10 has them. A bucket is given as its size (`q`) in the seconds that
 * fill it (`w`, rounded up, so that a client that keeps to it is never refused).
 */
export function setRateLimitHeaders(
  call: Pick<Call, "setHeader">,
  { rate, concurrency }: RateLimitStatus,
): void {
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
  call.setHeader("ratelimit-policy", policies.join(", "));
  call.setHeader("ratelimit", now.join(", "));
}
