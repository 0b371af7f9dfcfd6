import { describe, expect, it } from "vitest";
import { KeyLimits, LIMITED_KEYS_MAX } from "../../src/accounts/key-limits.js";
import type { Plan } from "../../src/accounts/plan.js";

const PLAN: Plan = { name: "free", calls: 1000, rate: { perSecond: 3, burst: 7 }, concurrency: undefined };

function limitsAt() {
  let now = 5_000;
  const limits = new KeyLimits(() => now);
  return { limits, pass: (ms: number) => (now += ms) };
}

describe("the rate of a key", () => {
  it("is a burst at once, and then so many a second", () => {
    const { limits, pass } = limitsAt();
    const admitted = () => limits.admit("a", PLAN).refusal === undefined;
    for (let n = 0; n < 7; n++) expect(admitted()).toBe(true);
    expect(admitted()).toBe(false);
    pass(334);
    expect([admitted(), admitted()]).toEqual([true, false]);
    pass(60_000);
    for (let n = 0; n < 7; n++) expect(admitted()).toBe(true);
    expect(admitted()).toBe(false);
  });

  it("is told with every call: what is left, and when the bucket is full again", () => {
    const { limits, pass } = limitsAt();
    const rate = () => limits.admit("a", PLAN).standing.rate;
    expect(rate()).toMatchObject({ limit: { perSecond: 3, burst: 7 }, left: 6 });
    expect(rate()?.left).toBe(5);
    pass(1_000);
    expect(rate()?.left).toBe(6);
    for (let n = 0; n < 6; n++) rate();
    const { refusal, standing } = limits.admit("a", PLAN);
    expect(refusal).toMatchObject({ code: "resource_exhausted", reason: "KEY_RATE_LIMITED" });
    expect(refusal?.retryAfterMs).toBeGreaterThan(0);
    expect(refusal?.retryAfterMs).toBeLessThanOrEqual(334);
    expect(standing.rate?.left).toBe(0);
    expect(standing.rate?.fullInMs).toBeCloseTo(7000 / 3, 0);
  });

  it("lets a key that floods through at its rate, not less", () => {
    const { limits, pass } = limitsAt();
    let admitted = 0;
    for (let ms = 0; ms < 60_000; ms += 10, pass(10)) {
      if (limits.admit("a", PLAN).refusal === undefined) admitted += 1;
    }
    expect(admitted).toBeGreaterThanOrEqual(7 + 3 * 60 - 2);
    expect(admitted).toBeLessThanOrEqual(7 + 3 * 60);
  });

  it("of one key is nothing to another", () => {
    const { limits } = limitsAt();
    for (let n = 0; n < 8; n++) limits.admit("a", PLAN);
    expect(limits.admit("a", PLAN).refusal).toBeDefined();
    expect(limits.admit("b", PLAN).refusal).toBeUndefined();
  });
});

describe("the concurrency of a key", () => {
  const plan: Plan = { ...PLAN, rate: undefined, concurrency: 2 };

  it("counts calls from their admission to their end", () => {
    const { limits } = limitsAt();
    const first = limits.admit("a", plan);
    expect(first.standing.concurrency).toEqual({ limit: 2, left: 1 });
    limits.admit("a", plan);
    const refused = limits.admit("a", plan);
    expect(refused.refusal).toMatchObject({
      code: "resource_exhausted",
      reason: "CONCURRENCY_LIMITED",
      retryAfterMs: 1_000,
    });
    // The end of a call that never began changes nothing.
    refused.end();
    expect(limits.admit("a", plan).refusal).toBeDefined();
    first.end();
    expect(limits.admit("a", plan).refusal).toBeUndefined();
  });
});

describe("the table of keys", () => {
  it("forgets keys whose bucket is full, and the least recently used beyond its bound", () => {
    const { limits, pass } = limitsAt();
    const running = limits.admit("running", { ...PLAN, concurrency: 1 });
    for (let n = 0; n < LIMITED_KEYS_MAX + 500; n++) limits.admit(`key ${n}`, PLAN).end();
    expect(limits.size).toBeLessThanOrEqual(LIMITED_KEYS_MAX);
    expect(limits.admit("running", { ...PLAN, concurrency: 1 }).refusal).toBeDefined();
    running.end();
    pass(10_000);
    limits.admit("another", PLAN).end();
    // This is the call that was just admitted.
    expect(limits.size).toBe(1);
  });

  it("keeps nothing of keys whose plan has no limits", () => {
    const { limits } = limitsAt();
    const { standing, refusal } = limits.admit("a", { ...PLAN, rate: undefined });
    expect({ standing, refusal, size: limits.size }).toEqual({ standing: {}, refusal: undefined, size: 0 });
  });
});
