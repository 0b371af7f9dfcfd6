import { MemoryError } from "../errors.js";
import type { Account, Accounts } from "./account.js";
import { type Authenticated, proofOf, unknownKey } from "./authenticate.js";

/**
 * Takes calls from the caller's plan, all or none. The same atomic step proves that the key lives, and the
 * session if there is one; the reason is looked up only if that step fails.
 *
 * @throws MemoryError `unauthenticated` or `resource_exhausted` (QUOTA_EXHAUSTED).
 */
export async function charge(accounts: Accounts, caller: Authenticated, calls = 1): Promise<void> {
  if (await accounts.charge({ accountId: caller.accountId, keyHash: proofOf(caller), calls })) return;
  const { callsLimit, callsLeft } = await getAccount(accounts, caller);
  const message =
    calls > 1 && callsLeft > 0
      ? `this needs ${calls} calls, and ${callsLeft} of this account's plan are left`
      : `all ${callsLimit.toLocaleString("en-US")} calls of this account's plan are used`;
  throw new MemoryError("resource_exhausted", message, { reason: "QUOTA_EXHAUSTED" });
}

/** Finds the caller's own account. @throws MemoryError `unauthenticated` if the key or the session ended. */
export async function getAccount(accounts: Accounts, caller: Authenticated): Promise<Account> {
  const account = await accounts.findByKey(proofOf(caller));
  if (account === undefined) throw unknownKey();
  return account;
}
