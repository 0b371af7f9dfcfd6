import type { HandlerContext } from "@connectrpc/connect";
import { AccountService } from "../../../gen/recalld/v1/account_pb.js";
import { type Rate, take } from "../../accounts/bucket.js";
import { MemoryError } from "../../errors.js";
import { clientAddressKey, networkOf } from "../port/client-address.js";

const HOUR_SECONDS = 3_600;

/** Maximum number of networks that are remembered; beyond it, those seen least recently start afresh. */
const NETWORKS_MAX = 10_000;

export interface SignUpLimits {
  /** Sign-ups of one client address an hour; of IPv6, of one /64. */
  readonly perHour: number;
  /** Sign-ups of all addresses together, which bounds a client that has many. */
  readonly perHourTotal: number;
}

/**
 * Counts attempts to sign up, in this process alone: with replicas, each admits as many. A limit of n an hour
 * admits n at once, and then one each nth of an hour.
 */
export class SignUpLimit {
  readonly #networks = new Map<string, number>();
  #totalMs = 0;

  readonly #nowMs: () => number;
  readonly #of: string;

  /** Creates a limit; `of` names what is counted, if it is not sign-ups. */
  constructor(
    private readonly limits: SignUpLimits,
    { nowMs = () => performance.now(), of = "sign-ups" }: { nowMs?: () => number; of?: string } = {},
  ) {
    this.#nowMs = nowMs;
    this.#of = of;
  }

  /** @throws MemoryError `resource_exhausted`, RATE_LIMITED, with the time to wait. */
  admit(address: string): void {
    const { perHour, perHourTotal } = this.limits;
    const now = this.#nowMs();
    const network = networkOf(address);
    const own = take(this.#networks.get(network), hourly(perHour), now);
    const total = take(this.#totalMs, hourly(perHourTotal), now);
    if (own.waitMs > 0) throw tooMany(`too many ${this.#of} from this address`, own.waitMs);
    if (total.waitMs > 0) throw tooMany(`too many ${this.#of} at this time`, total.waitMs);
    this.#totalMs = total.fullAtMs;
    // Deleted first, so that it comes last: the map is in the order of use.
    this.#networks.delete(network);
    this.#networks.set(network, own.fullAtMs);
    this.#forget(now);
  }

  /** Forgets networks that owe nothing any more, and any above the bound. */
  #forget(now: number): void {
    for (const [network, fullAtMs] of this.#networks) {
      if (fullAtMs > now && this.#networks.size <= NETWORKS_MAX) break;
      this.#networks.delete(network);
    }
  }
}

/** Refuses clients that sign up too often, before their request is read. */
export function limitSignUps(limit: SignUpLimit): (context: HandlerContext) => void {
  return ({ method, values }) => {
    if (method === AccountService.method.signUp) limit.admit(values.get(clientAddressKey));
  };
}

/** Rate that admits the whole limit at once, then spreads it over the hour. */
function hourly(perHour: number): Rate {
  return { perSecond: perHour / HOUR_SECONDS, burst: perHour };
}

function tooMany(message: string, waitMs: number): MemoryError {
  const seconds = Math.ceil(waitMs / 1000);
  return new MemoryError("resource_exhausted", `${message}; try again in ${seconds} s`, {
    reason: "RATE_LIMITED",
    retryAfterMs: seconds * 1000,
  });
}
