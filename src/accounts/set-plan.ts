import { MemoryError } from "../errors.js";
import type { Accounts } from "./account.js";
import type { Plans } from "./plan.js";

export interface SetPlanOptions {
  readonly accounts: Pick<Accounts, "setPlan">;
  readonly plans: Plans;
}

/**
 * Gives an account another plan. Used calls stay used, so none are left of a plan with fewer. Running
 * services follow within a minute.
 *
 * @throws MemoryError `failed_precondition` (PLAN_UNKNOWN), or `not_found` for the account.
 */
export async function setPlan(
  { accounts, plans }: SetPlanOptions,
  { accountId, plan }: { accountId: string; plan: string },
): Promise<void> {
  const { name, calls } = plans.get(plan);
  if (await accounts.setPlan({ accountId, plan: name, callsLimit: calls })) return;
  throw new MemoryError("not_found", `there is no account ${JSON.stringify(accountId)}`, {
    field: "account_id",
  });
}
