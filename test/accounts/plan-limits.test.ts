import { describe, expect, it } from "vitest";
import type { Plan } from "../../src/accounts/plan.js";
import { PlanLimits } from "../../src/accounts/plan-limits.js";
import type { MemoryError } from "../../src/errors.js";

const PLAN: Plan = {
  name: "free",
  calls: 1000,
  rate: { perSecond: 3, burst: 7 },
  concurrency: undefined,
  accountTimes: 4,
};

function limitsAt() {
  let now = 5_000;
  const limits = new PlanLimits(() => now);
  /** Begins a call; returns why it is refused, if it is. */
  const begin = (key: string, { plan = PLAN, account = key }: { plan?: Plan; account?: string } = {}) => {
    try {
      limits.begin({ keyHash: key, accountId: account }, plan);
      return undefined;
    } catch (error) {
      return error as MemoryError;
    }
  };
  return { limits, begin, pass: (ms: number) => (now += ms) };
}

describe("the rate of a key", () => {
  it("is a burst at once, and then so many a second", () => {
    const { begin, pass } = limitsAt();
    const isAccepted = () => begin("a") === undefined;
    for (let n = 0; n < 7; n++) expect(isAccepted()).toBe(true);
    expect(isAccepted()).toBe(false);
    pass(334);
    expect([isAccepted(), isAccepted()]).toEqual([true, false]);
    pass(60_000);
    for (let n = 0; n < 7; n++) expect(isAccepted()).toBe(true);
    expect(isAccepted()).toBe(false);
  });

  it("is told: what is left, and when the bucket is full again", () => {
    const { limits, begin, pass } = limitsAt();
    const rates = limits.ratesOf(PLAN)?.keys;
    begin("a");
    expect(rates?.rate).toEqual({ perSecond: 3, burst: 7 });
    expect(rates?.left("a")).toBe(6);
    for (let n = 0; n < 6; n++) begin("a");
    const refusal = begin("a");
    expect(refusal).toMatchObject({ code: "resource_exhausted", reason: "KEY_RATE_LIMITED" });
    expect(refusal?.retryAfterMs).toBeGreaterThan(0);
    expect(refusal?.retryAfterMs).toBeLessThanOrEqual(334);
    expect(rates?.left("a")).toBe(0);
    expect(rates?.fullInMs("a")).toBeCloseTo(7000 / 3, 0);
    pass(1_000);
    expect(rates?.left("a")).toBe(3);
  });

  it("lets a key that floods through at its rate, not less", () => {
    const { begin, pass } = limitsAt();
    let accepted = 0;
    for (let ms = 0; ms < 60_000; ms += 10, pass(10)) if (begin("a") === undefined) accepted += 1;
    expect(accepted).toBeGreaterThanOrEqual(7 + 3 * 60 - 2);
    expect(accepted).toBeLessThanOrEqual(7 + 3 * 60);
  });

  it("of one key is nothing to a key of another account", () => {
    const { begin } = limitsAt();
    for (let n = 0; n < 8; n++) begin("a");
    expect(begin("a")).toBeDefined();
    expect(begin("b")).toBeUndefined();
  });

  it("is taken below nothing by a call that turned out to cost more", () => {
    const { limits, begin, pass } = limitsAt();
    begin("a");
    limits.spend({ keyHash: "a", accountId: "a" }, PLAN, 12);
    expect(begin("a")).toMatchObject({ reason: "KEY_RATE_LIMITED" });
    pass(2_340);
    expect(begin("a")).toBeUndefined();
  });
});

describe("the rate of an account", () => {
  it("is four times that of a key, however many keys it has", () => {
    const { begin, pass } = limitsAt();
    const accepted = () =>
      Array.from({ length: 500 }, (_, n) => begin(`key ${n % 50}`, { account: "one" })).filter(
        (refusal) => refusal === undefined,
      ).length;
    expect(accepted()).toBe(4 * 7);
    expect(begin("key 0", { account: "one" })?.message).toContain("the keys of this account");
    pass(1_000);
    expect(accepted()).toBe(4 * 3);
  });

  it("is what its plan says", () => {
    const { begin } = limitsAt();
    const plan = { ...PLAN, accountTimes: 2 };
    const refusals = Array.from({ length: 50 }, (_, n) => begin(`key ${n}`, { account: "one", plan }));
    expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(14);
  });
});

describe("the concurrency of a key", () => {
  const plan: Plan = { ...PLAN, rate: undefined, concurrency: 2 };

  it("counts calls from their beginning to their end", () => {
    const { limits, begin } = limitsAt();
    const caller = { keyHash: "a", accountId: "a" };
    expect(begin("a", { plan })).toBeUndefined();
    expect(limits.runningOf("a")).toBe(1);
    begin("a", { plan });
    const refused = begin("a", { plan });
    expect(refused).toMatchObject({ reason: "CONCURRENCY_LIMITED", retryAfterMs: 1_000 });
    limits.end(caller);
    expect(begin("a", { plan })).toBeUndefined();
  });

  it("is four times as large for the account", () => {
    const { begin } = limitsAt();
    const refusals = Array.from({ length: 50 }, (_, n) => begin(`key ${n}`, { plan, account: "one" }));
    expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(8);
    expect(refusals.at(-1)).toMatchObject({ code: "resource_exhausted", reason: "CONCURRENCY_LIMITED" });
  });
});

it("an account of a plan without limits leaves some running calls to the others", () => {
  const { begin } = limitsAt();
  const plan: Plan = { ...PLAN, rate: undefined };
  const all = Array.from({ length: 5_000 }, () => begin("a", { plan }));
  expect(all.filter((refusal) => refusal === undefined)).toHaveLength(1_024);
  expect(begin("b", { plan })).toBeUndefined();
});
