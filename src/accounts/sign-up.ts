import { typeid } from "typeid-js";
import { Buckets, type Rate } from "../concurrency/bucket.js";
import { invalid, MemoryError } from "../errors.js";
import { checkString } from "../memory/requests/text.js";
import type { Account, Accounts } from "./account.js";
import { makeKey } from "./key.js";
import { FREE } from "./plan.js";

export const EMAIL_BYTES_MAX = 254;
const FIRST_KEY_NAME = "first key";

export interface SignUpOptions {
  readonly accounts: Accounts;
  /** `closed`: only the operator creates accounts. */
  readonly signUp: "open" | "closed";
  /** Calls of the free plan, for the account's lifetime. */
  readonly freeCalls: number;
}

/**
 * Creates an account on the free plan. The answer is the only place where the key appears.
 *
 * @throws MemoryError `invalid_argument` for the email, `permission_denied` if sign-up is closed.
 */
export async function signUp(
  { accounts, signUp, freeCalls }: SignUpOptions,
  request: { email: string },
): Promise<{ account: Account; key: string }> {
  if (signUp === "closed")
    throw new MemoryError("permission_denied", "sign-up is closed here: ask the operator");
  const { secret, key } = makeKey({ name: FIRST_KEY_NAME });
  const account: Account = {
    id: typeid("acc").toString(),
    email: parseEmail(request.email),
    plan: FREE,
    callsLimit: freeCalls,
    callsLeft: freeCalls,
    keys: [key],
    createdAtMs: Date.now(),
  };
  await accounts.create(account);
  return { account, key: secret };
}

/** Accepts an empty string, or the form name@host. No mail is ever sent there, so that is enough. */
function parseEmail(value: string): string {
  checkString("email", value, EMAIL_BYTES_MAX);
  if (value !== "" && !/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(value)) {
    throw invalid("email", "is not of the form name@host");
  }
  return value;
}

const HOUR_SECONDS = 3_600;

export interface SignUpLimits {
  /** Sign-ups of one client address an hour; of IPv6, of one /64. */
  readonly perHour: number;
  /** Sign-ups of all addresses together, which bounds a client that has many. */
  readonly perHourTotal: number;
}

/**
 * Counts an attempt from a network, and returns a function that takes it back: the database could not be asked.
 *
 * @throws MemoryError `resource_exhausted`, RATE_LIMITED, with the time to wait.
 */
export type CheckSignUp = (network: string) => () => void;

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
    return () => {
      networks.giveBack(network);
      total.giveBack("");
    };
  };
}

/** Rate that allows the whole limit at once, then spreads it over the hour. */
function hourly(perHour: number): Rate {
  return { perSecond: perHour / HOUR_SECONDS, burst: perHour };
}
