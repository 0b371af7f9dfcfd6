import { expect, it, vi } from "vitest";
import { Plans, setPlan } from "../../src/accounts/plan.js";

const TEAM = { name: "team", calls: 50, rate: undefined, concurrency: undefined, accountTimes: 4 };
const plans = new Plans([TEAM]);
const accountsWith = (found: boolean) => ({ setPlan: vi.fn(async () => found) });

it("an account gets a plan, and the plan's calls", async () => {
  const accounts = accountsWith(true);
  await setPlan({ accounts, plans }, { accountId: "acc_a", plan: "team" });
  expect(accounts.setPlan).toHaveBeenCalledExactlyOnceWith({
    accountId: "acc_a",
    plan: "team",
    callsLimit: 50,
  });
});

it("a plan that there is not is refused, and nothing is written", async () => {
  const accounts = accountsWith(true);
  const setting = setPlan({ accounts, plans }, { accountId: "acc_a", plan: "gold" });
  await expect(setting).rejects.toMatchObject({
    code: "failed_precondition",
    reason: "PLAN_UNKNOWN",
    message: 'there is no plan "gold" here; there are team',
  });
  expect(accounts.setPlan).not.toHaveBeenCalled();
});

it("an account that there is not is named", async () => {
  const setting = setPlan(
    { accounts: accountsWith(false), plans },
    { accountId: "acc_nobody", plan: "team" },
  );
  await expect(setting).rejects.toMatchObject({
    code: "not_found",
    message: 'there is no account "acc_nobody"',
  });
});
