import { MemoryError } from "../errors.js";
import type { Account, Accounts } from "./account.js";
import { type Authenticated, unknownKey } from "./authenticate.js";

/**
 * Takes one call from the caller's plan. The same atomic step proves that the key lives; the reason is
 * looked up only if that step fails.
 *
 * @throws MemoryError `unauthenticated` or `resource_exhausted` (QUOTA_EXHAUSTED).
 */
export async function charge(accounts: Accounts, caller: Authenticated): Promise<void> {
  if (await accounts.charge(caller)) return;
  const { callsLimit } = await getAccount(accounts, caller);
  throw new MemoryError(
    "resource_exhausted",
    `all ${callsLimit.toLocaleString("en-US")} calls of this account's plan are used`,
    { reason: "QUOTA_EXHAUSTED" },
  );
}

/** Finds the caller's own account. @throws MemoryError `unauthenticated` if the key was revoked. */
export async function getAccount(accounts: Accounts, { keyHash }: Authenticated): Promise<Account> {
  const account = await accounts.findByKey(keyHash);
  if (account === undefined) throw unknownKey();
  return account;
}
