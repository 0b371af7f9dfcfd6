import { describe, expect, it } from "vitest";
import { limitSignUps } from "../../src/accounts/sign-up.js";
import type { MemoryError } from "../../src/errors.js";
import { networkOf } from "../../src/server/listen/client-address.js";

const HOUR_MS = 3_600_000;

function limitAt(perHour: number, perHourTotal: number) {
  let now = 5_000;
  const check = limitSignUps({ perHour, perHourTotal }, { nowMs: () => now });
  const attempt = (address: string): MemoryError | undefined => {
    try {
      check(networkOf(address));
      return undefined;
    } catch (error) {
      return error as MemoryError;
    }
  };
  return { attempt, pass: (ms: number) => (now += ms) };
}

describe("the limit of sign-ups", () => {
  it("allows as many at once as an hour has, and then one at a time", () => {
    const { attempt, pass } = limitAt(60, 1000);
    for (let n = 0; n < 60; n++) expect(attempt("192.0.2.1")).toBe(undefined);
    expect(attempt("192.0.2.1")).toMatchObject({
      code: "resource_exhausted",
      reason: "RATE_LIMITED",
      message: "too many sign-ups from this address; try again in 60 s",
      retryAfterMs: 60_000,
    });
    pass(60_000);
    expect(attempt("192.0.2.1")).toBe(undefined);
    expect(attempt("192.0.2.1")).toBeDefined();
    pass(HOUR_MS);
    for (let n = 0; n < 60; n++) expect(attempt("192.0.2.1")).toBe(undefined);
    expect(attempt("192.0.2.1")).toBeDefined();
  });

  it("tells addresses apart, but not those of one IPv6 network", () => {
    const { attempt } = limitAt(1, 1000);
    expect(attempt("192.0.2.1")).toBe(undefined);
    expect(attempt("192.0.2.2")).toBe(undefined);
    expect(attempt("2001:db8::1")).toBe(undefined);
    expect(attempt("2001:db8::ffff:2")).toBeDefined();
    expect(attempt("2001:db8:0:1::1")).toBe(undefined);
  });

  it("holds for all addresses together", () => {
    const { attempt, pass } = limitAt(1000, 10);
    for (let n = 0; n < 10; n++) expect(attempt(`192.0.2.${n}`)).toBe(undefined);
    expect(attempt("192.0.2.99")).toMatchObject({
      message: expect.stringMatching(/^too many sign-ups at this time/),
    });
    pass(HOUR_MS / 10);
    expect(attempt("192.0.2.99")).toBe(undefined);
  });

  it("takes nothing from the others when it refuses one", () => {
    const { attempt } = limitAt(1, 3);
    for (let n = 0; n < 10; n++) attempt("192.0.2.1");
    expect(attempt("192.0.2.2")).toBe(undefined);
    expect(attempt("192.0.2.3")).toBe(undefined);
    expect(attempt("192.0.2.4")).toBeDefined();
  });

  it("counts no attempt that is taken back, for its address and for all", () => {
    const check = limitSignUps({ perHour: 1, perHourTotal: 1 });
    check("192.0.2.1")();
    check("192.0.2.1");
    expect(() => check("192.0.2.2")).toThrow("too many sign-ups at this time");
  });

  it("remembers a bounded number of addresses", () => {
    const { attempt } = limitAt(1, 10_000_000);
    const address = (n: number) => `2001:db8:0:${n.toString(16)}::1`;
    for (let n = 0; n < 12_000; n++) expect(attempt(address(n))).toBe(undefined);
    // It remembers the last 10,000 and forgets the first.
    expect(attempt(address(11_999))).toBeDefined();
    expect(attempt(address(2_100))).toBeDefined();
    expect(attempt(address(0))).toBe(undefined);
  });
});
