import { Buckets, type Rate } from "../concurrency/bucket.js";

const HOUR_SECONDS = 3_600;

export interface SignUpLimits {
  /** Sign-ups of one client address an hour; of IPv6, of one /64. */
  readonly perHour: number;
  /** Sign-ups of all addresses together, which bounds a client that has many. */
  readonly perHourTotal: number;
}

/** Counts an attempt from a network. @throws MemoryError `resource_exhausted`, RATE_LIMITED, with the time to wait. */
export type CheckSignUp = (network: string) => void;

/**
 * Limits attempts to sign up, or `what` else is counted, in this process alone: with replicas, each allows as many. A
 * limit of n an hour allows n at once, and then one each nth of an hour.
 */
export function limitSignUps(
  { perHour, perHourTotal }: SignUpLimits,
  { nowMs, what = "sign-ups" }: { nowMs?: () => number; what?: string } = {},
): CheckSignUp {
  const networks = new Buckets(hourly(perHour), nowMs);
  /** A single bucket, for all addresses. */
  const total = new Buckets(hourly(perHourTotal), nowMs);
  return (network) => {
    networks.check(network, `too many ${what} from this address`);
    total.check("", `too many ${what} at this time`);
    networks.take(network);
    total.take("");
  };
}

/** Rate that allows the whole limit at once, then spreads it over the hour. */
function hourly(perHour: number): Rate {
  return { perSecond: perHour / HOUR_SECONDS, burst: perHour };
}
