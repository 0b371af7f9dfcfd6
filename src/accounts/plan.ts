import type { Rate } from "../concurrency/bucket.js";
import { failedPrecondition, MemoryError } from "../errors.js";
import type { Accounts } from "./account.js";
import { changePlan } from "./changes.js";

export interface Plan {
  readonly name: string;
  /** Successful stores and recalls in the account's lifetime; UNLIMITED_CALLS means no limit. */
  readonly calls: number;
  /** Rate of each of its keys, in each process; undefined means no limit. */
  readonly rate: Rate | undefined;
  /** Calls that each of its keys may have running, in each process; undefined means no limit. */
  readonly concurrency: number | undefined;
  /** Number of times that all keys of an account together may reach the rate and the concurrency of one. */
  readonly accountTimes: number;
}

/** Number of keys' rates that an account has, unless its plan says otherwise. */
export const ACCOUNT_TIMES = 4;

/** Number of calls that means no limit: more than anyone can make. It is counted down like any other. */
export const UNLIMITED_CALLS = 2 ** 50;

export const FREE = "free";

/** Limits of a key in the built-in plan: far more than one agent needs, and less than a process can do. */
const FREE_LIMITS = { rate: { perSecond: 50, burst: 100 }, concurrency: 32, accountTimes: ACCOUNT_TIMES };

/** The plans of a server without a file of plans. */
export function builtInPlans(freeCalls: number): Plans {
  return new Plans([{ name: FREE, calls: freeCalls, ...FREE_LIMITS }]);
}

export class Plans {
  readonly #plans: ReadonlyMap<string, Plan>;

  constructor(plans: readonly Plan[]) {
    this.#plans = new Map(plans.map((plan) => [plan.name, plan]));
  }

  get names(): readonly string[] {
    return [...this.#plans.keys()];
  }

  /** @throws MemoryError `failed_precondition` (PLAN_UNKNOWN) if the operator removed it from the file. */
  get(name: string): Plan {
    const plan = this.#plans.get(name);
    if (plan !== undefined) return plan;
    // It reaches callers, whom the other plans do not concern.
    throw unknownPlan(name, "the operator must assign another");
  }
}

function unknownPlan(name: string, hint: string): MemoryError {
  return failedPrecondition(`there is no plan ${JSON.stringify(name)} here; ${hint}`, {
    reason: "PLAN_UNKNOWN",
  });
}

/**
 * Gives an account another plan. Used calls stay used, so none are left of a plan with fewer. Running
 * services follow within a minute.
 *
 * @throws MemoryError `failed_precondition` (PLAN_UNKNOWN), or `not_found` for the account.
 */
export async function setPlan(
  { accounts, plans }: { accounts: Pick<Accounts, "change">; plans: Plans },
  { accountId, plan }: { accountId: string; plan: string },
): Promise<void> {
  if (!plans.names.includes(plan)) throw unknownPlan(plan, `there are ${plans.names.join(", ")}`);
  const { name, calls } = plans.get(plan);
  if (await changePlan(accounts, { accountId, plan: name, callsLimit: calls })) return;
  throw new MemoryError("not_found", `there is no account ${JSON.stringify(accountId)}`, {
    field: "account_id",
  });
}
