import { expect, it, vi } from "vitest";
import type { Account } from "../../src/accounts/account.js";
import { Plans, setPlan } from "../../src/accounts/plan.js";

const TEAM = { name: "team", calls: 50, rate: undefined, concurrency: undefined, accountTimes: 4 };
const plans = new Plans([TEAM]);
const account = { id: "acc_a", plan: "free", callsLimit: 10, callsLeft: 4 } as Account;
const accountsWith = (found: Account | undefined) => ({
  change: vi.fn(async (_id: string, to: (account: Account) => Account | undefined) => {
    expect(found && to(found)).toEqual(found && { ...found, plan: "team", callsLimit: 50, callsLeft: 44 });
    return found !== undefined;
  }),
});

it("an account gets a plan, and the plan's calls", async () => {
  const accounts = accountsWith(account);
  await setPlan({ accounts, plans }, { accountId: "acc_a", plan: "team" });
  expect(accounts.change).toHaveBeenCalledExactlyOnceWith("acc_a", expect.any(Function));
});

it("a plan that there is not is refused, and nothing is written", async () => {
  const accounts = accountsWith(account);
  const setting = setPlan({ accounts, plans }, { accountId: "acc_a", plan: "gold" });
  await expect(setting).rejects.toMatchObject({
    code: "failed_precondition",
    reason: "PLAN_UNKNOWN",
    message: 'there is no plan "gold" here; there are team',
  });
  expect(accounts.change).not.toHaveBeenCalled();
});

it("an account that there is not is named", async () => {
  const setting = setPlan(
    { accounts: accountsWith(undefined), plans },
    { accountId: "acc_nobody", plan: "team" },
  );
  await expect(setting).rejects.toMatchObject({
    code: "not_found",
    message: 'there is no account "acc_nobody"',
  });
});
