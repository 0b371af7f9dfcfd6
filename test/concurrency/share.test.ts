import { describe, expect, it } from "vitest";
import { Share } from "../../src/concurrency/share.js";

const shareOf = (total: number) => new Share({ total, what: "open watches", reason: "STREAMS_LIMITED" });

/** Takes one unit after another until the owner gets no more; returns how many. */
function fill(share: Share, owner: string): number {
  let units = 0;
  while (share.tryTake(owner)) units += 1;
  return units;
}

describe("a share", () => {
  it("gives one owner a third, two a quarter each, and has something for the next", () => {
    const one = shareOf(1_200);
    expect(fill(one, "a")).toBe(400);
    const two = shareOf(1_200);
    for (let round = 0; round < 1_200; round++) {
      two.tryTake("a");
      two.tryTake("b");
    }
    expect([two.heldBy("a"), two.heldBy("b")]).toEqual([300, 300]);
    const many = shareOf(1_200);
    for (let owner = 0; owner < 10; owner++) expect(fill(many, `${owner}`)).toBeGreaterThan(0);
    expect(many.used).toBeLessThan(1_200);
  });

  it("refuses units that do not fit as a whole, and takes none of them", () => {
    const share = shareOf(100);
    expect(share.tryTake("a", 51)).toBe(false);
    expect(share.used).toBe(0);
    expect(share.tryTake("a", 50)).toBe(true);
    expect(share.tryTake("b", 26)).toBe(false);
    expect(share.tryTake("b", 25)).toBe(true);
  });

  it("keeps an owner to a bound of its own", () => {
    const share = shareOf(100);
    expect(share.tryTake("a", 2, 2)).toBe(true);
    expect(share.tryTake("a", 1, 2)).toBe(false);
    expect(share.tryTake("b", 1, 2)).toBe(true);
  });

  it("gives again what was given back, and forgets owners that hold nothing", () => {
    const share = shareOf(9);
    expect(fill(share, "a")).toBe(3);
    share.give("a");
    expect(share.tryTake("a")).toBe(true);
    share.give("a", 3);
    expect([share.used, share.heldBy("a")]).toEqual([0, 0]);
  });

  it("says whether the caller or everyone has too much, and when to come again", () => {
    const share = shareOf(3);
    share.take("a");
    expect(() => share.take("a")).toThrow(
      expect.objectContaining({
        code: "resource_exhausted",
        reason: "STREAMS_LIMITED",
        retryAfterMs: 1_000,
      }),
    );
    share.take("b");
    expect(() => share.take("c")).toThrow(
      expect.objectContaining({ code: "unavailable", message: "the server has too many open watches now" }),
    );
  });
});
