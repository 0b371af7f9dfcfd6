import { Buckets, type Rate } from "../concurrency/bucket.js";

const HOUR_SECONDS = 3_600;

export interface SignUpLimits {
  /** Sign-ups of one client address an hour; of IPv6, of one /64. */
  readonly perHour: number;
  /** Sign-ups of all addresses together, which bounds a client that has many. */
  readonly perHourTotal: number;
}

/**
 * Counts attempts to sign up, in this process alone: with replicas, each allows as many. A limit of n an hour
 * allows n at once, and then one each nth of an hour.
 */
export class SignUpLimit {
  readonly #networks: Buckets;
  /** A single bucket, for all addresses. */
  readonly #total: Buckets;
  readonly #what: string;

  /** Creates a limit; `what` names what is counted, if it is not sign-ups. */
  constructor(
    { perHour, perHourTotal }: SignUpLimits,
    { nowMs, what = "sign-ups" }: { nowMs?: () => number; what?: string } = {},
  ) {
    this.#networks = new Buckets(hourly(perHour), nowMs);
    this.#total = new Buckets(hourly(perHourTotal), nowMs);
    this.#what = what;
  }

  /** Counts an attempt from a network. @throws MemoryError `resource_exhausted`, RATE_LIMITED, with the time to wait. */
  check(network: string): void {
    this.#networks.check(network, `too many ${this.#what} from this address`);
    this.#total.check("", `too many ${this.#what} at this time`);
    this.#networks.take(network);
    this.#total.take("");
  }
}

/** Rate that allows the whole limit at once, then spreads it over the hour. */
function hourly(perHour: number): Rate {
  return { perSecond: perHour / HOUR_SECONDS, burst: perHour };
}
