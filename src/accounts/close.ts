import { invalid } from "../errors.js";
import type { Accounts } from "./account.js";
import type { Authenticated } from "./authenticate.js";
import { managedBy } from "./keys.js";
import type { Usage } from "./usage.js";

export interface CloseOptions {
  readonly accounts: Accounts;
  readonly usage: Pick<Usage, "remove">;
  /** Erases all memories of an account; answers how many they were. */
  eraseMemories(accountId: string): Promise<number>;
}

/**
 * Closes the caller's account: all of it is erased, and its keys are refused. When it fails on the
 * way, the same key may try again, and finds the rest. Answers how many memories this call erased.
 *
 * @throws MemoryError `invalid_argument` when the id is not the caller's, `permission_denied`.
 */
export async function closeAccount(
  { accounts, usage, eraseMemories }: CloseOptions,
  { caller, accountId }: { caller: Authenticated; accountId: string },
): Promise<number> {
  if (accountId === "") throw invalid("account_id", "is missing");
  await managedBy(accounts, caller);
  if (accountId !== caller.accountId) throw invalid("account_id", "is not the id of the key's account");
  return eraseAccount({ accounts, usage, eraseMemories }, accountId);
}

/** As `closeAccount`, whoever asks. */
export async function eraseAccount(
  { accounts, usage, eraseMemories }: CloseOptions,
  accountId: string,
): Promise<number> {
  const erased = await eraseMemories(accountId);
  await usage.remove(accountId);
  // Last, for after this nobody can try again.
  await accounts.remove(accountId);
  // What was stored meanwhile: from here on nothing is, for nobody can pay for it.
  return erased + (await eraseMemories(accountId));
}
