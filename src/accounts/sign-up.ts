import { typeid } from "typeid-js";
import { invalid, MemoryError } from "../errors.js";
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
export function parseEmail(value: string): string {
  const bytes = Buffer.byteLength(value);
  if (bytes > EMAIL_BYTES_MAX) throw invalid("email", `is ${bytes} bytes; the limit is ${EMAIL_BYTES_MAX}`);
  if (value !== "" && !(value.isWellFormed() && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(value))) {
    throw invalid("email", "is not of the form name@host");
  }
  return value;
}
