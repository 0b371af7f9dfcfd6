import { invalid } from "../errors.js";
import type { Caller } from "../memory/ports/quota.js";
import type { Accounts } from "./account.js";
import type { Calls } from "./calls/calls.js";
import { managedBy } from "./keys.js";
import type { Grants } from "./oauth/grants.js";
import type { Usage } from "./usage.js";

export interface CloseOptions {
  readonly accounts: Accounts;
  /** Consents that applications have not used yet. */
  readonly grants: Pick<Grants, "remove">;
  readonly usage: Pick<Usage, "remove">;
  readonly calls: Pick<Calls, "erase">;
  eraseMemories(accountId: string): Promise<number>;
}

/**
 * Closes the caller's account: erases all of it, and ends its keys. If a call fails, the same key may try
 * again and erases the rest. Returns how many memories this call erased.
 *
 * @throws MemoryError `invalid_argument` if the id is not the caller's, `permission_denied`.
 */
export async function closeAccount(
  options: CloseOptions,
  { caller, accountId }: { caller: Caller; accountId: string },
): Promise<number> {
  if (accountId === "") throw invalid("account_id", "is missing");
  await managedBy(options.accounts, caller);
  if (accountId !== caller.accountId) throw invalid("account_id", "is not the id of the key's account");
  return eraseAccount(options, accountId);
}

/** Closes an account like `closeAccount`, without asking who the caller is. */
export async function eraseAccount(
  {
    accounts,
    grants,
    usage,
    calls,
    eraseMemories,
  }: Omit<CloseOptions, "accounts"> & { readonly accounts: Pick<Accounts, "remove"> },
  accountId: string,
): Promise<number> {
  const eraseAll = async () => {
    const erased = await eraseMemories(accountId);
    await usage.remove(accountId);
    await grants.remove({ accountId });
    return erased;
  };
  const ofCalls = { accountId, untilMs: Number.MAX_SAFE_INTEGER };
  // First: each namespace that is dropped would look through all of them.
  await calls.erase(ofCalls);
  const erased = await eraseAll();
  // Last: after this no key can try again.
  await accounts.remove(accountId);
  // Erases what was stored, counted and consented to meanwhile. No more can follow, because no key can pay for it.
  const stored = await eraseAll();
  // Calls that still run may add records later: `openCallRecorder` removes those with old records.
  await calls.erase(ofCalls);
  return erased + stored;
}
