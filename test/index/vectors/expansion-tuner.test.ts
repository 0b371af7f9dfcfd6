import { describe, expect, it } from "vitest";
import { compare, ExpansionTuner } from "../../../src/index/vectors/expansion-tuner.js";
import { seeded } from "../../simulation/time.js";

/** Makes a tuner check that many searches that found this share, each long after the one before. */
async function checked(tuner: ExpansionTuner, { found, times }: { found: number; times: number }) {
  for (let i = 0; i < times; i++) {
    nowMs += 1_000_000;
    await tuner.check(nowMs, async () => ({ found, compared: 10 }));
  }
}
let nowMs = 0;

describe("the tuner of recall", () => {
  it("has searches broader when they find too little, and narrower when they find all, within bounds", async () => {
    const tuner = new ExpansionTuner();
    const first = tuner.expansionIn([1000]);
    await checked(tuner, { found: 9, times: 8 });
    expect(tuner.expansionIn([1000])).toBeGreaterThan(first);
    await checked(tuner, { found: 9, times: 800 });
    expect(tuner.expansionIn([1000])).toBe(1024);
    await checked(tuner, { found: 10, times: 800 });
    expect(tuner.expansionIn([1000])).toBe(64);
  });

  it("settles where 99.5 % are found", async () => {
    const tuner = new ExpansionTuner();
    // A graph that misses one of a hundred at 128 places, and half as many at twice as many.
    const missed = () => Math.min(1, 1.28 / tuner.expansionIn([1000]));
    const random = seeded(1);
    let [found, compared] = [0, 0];
    for (let i = 0; i < 6_000; i++) {
      const right = Array.from({ length: 10 }, () => random() >= missed()).filter(Boolean).length;
      await checked(tuner, { found: right, times: 1 });
      if (i >= 1_000) [found, compared] = [found + right, compared + 10];
    }
    expect(found / compared).toBeGreaterThan(0.994);
    expect(found / compared).toBeLessThan(0.996);
  });

  it("changes little because of one check", async () => {
    const tuner = new ExpansionTuner();
    const first = tuner.expansionIn([1000]);
    await checked(tuner, { found: 10, times: 1 });
    expect(tuner.expansionIn([1000])).toBeGreaterThan(first * 0.98);
    await checked(tuner, { found: 9, times: 1 });
    expect(tuner.expansionIn([1000])).toBeLessThan(first * 1.25);
  });

  it("divides the expansion among several graphs, down to a least one", () => {
    const tuner = new ExpansionTuner();
    expect(tuner.expansionIn([50, 50, 50, 50])).toBe(tuner.expansionIn([1000]) / 2);
    expect(tuner.expansionIn(Array(10_000).fill(50))).toBe(32);
    expect(tuner.expansionIn([50_000, 10])).toBe(tuner.expansionIn([50_000]));
  });

  it("checks one search at a time, and pauses in between", async () => {
    const tuner = new ExpansionTuner();
    let [running, most, checks] = [0, 0, 0];
    const exactly = async () => {
      checks++;
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return { found: 10, compared: 10 };
    };
    await Promise.all([tuner.check(0, exactly), tuner.check(0, exactly)]);
    expect(await tuner.check(999, exactly)).toBeUndefined();
    expect({ most, checks }).toEqual({ most: 1, checks: 1 });
    expect(await tuner.check(1_000_000, exactly)).toEqual({ found: 10, compared: 10 });
  });

  it("goes on after a check that failed", async () => {
    const tuner = new ExpansionTuner();
    await expect(tuner.check(0, () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    expect(await tuner.check(1_000_000, async () => ({ found: 1, compared: 1 }))).toEqual({
      found: 1,
      compared: 1,
    });
  });

  it("compares the ten nearest, whatever their order", () => {
    const hits = (from: number) =>
      Array.from({ length: 20 }, (_, i) => ({
        sequence: from + i,
        window: 0,
        similarity: 1 - (from + i) / 100,
      }));
    expect(compare(hits(0), hits(0).reverse())).toEqual({ found: 10, compared: 10 });
    expect(compare(hits(0), hits(5))).toEqual({ found: 5, compared: 10 });
    expect(compare(hits(0).slice(0, 3), hits(0))).toEqual({ found: 3, compared: 3 });
  });
});
