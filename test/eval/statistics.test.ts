import { describe, expect, test } from "vitest";
import { estimateMean, estimateMeanOfMeans, replicates } from "../../eval/bootstrap.js";
import { areaUnderCurve, ranks, spearman } from "../../eval/ranks.js";

describe("ranks", () => {
  test("share the mean among equals", () => {
    expect([...ranks([10, 30, 20, 30, 5])]).toEqual([2, 4.5, 3, 4.5, 1]);
  });

  test("correlate by Spearman, also with ties", () => {
    expect(spearman([1, 2, 3, 4], [10, 100, 1000, 10_000])).toBeCloseTo(1, 12);
    expect(spearman([1, 2, 3, 4], [4, 3, 2, 1])).toBeCloseTo(-1, 12);
    // Computed by hand: ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4; Pearson 4.5 / sqrt(4.5 * 5).
    expect(spearman([1, 2, 2, 3], [1, 7, 5, 9])).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12);
  });

  test("tell how often one side is above the other, equals counting half", () => {
    expect(areaUnderCurve([3, 4], [1, 2])).toBe(1);
    expect(areaUnderCurve([1, 2], [3, 4])).toBe(0);
    expect(areaUnderCurve([2, 3], [1, 3])).toBe((1 + 0 + 1 + 0.5) / 4);
  });
});

describe("the bootstrap", () => {
  const values = Array.from({ length: 100 }, (_, i) => Number(i % 4 === 0));

  test("gives the same interval every time", () => {
    expect(estimateMean(values)).toEqual(estimateMean([...values]));
  });

  test("gives the interval that theory expects", () => {
    const { value, low, high } = estimateMean(values);
    const halfWidth = 1.96 * Math.sqrt((0.25 * 0.75) / values.length);
    expect(value).toBe(0.25);
    expect(low).toBeCloseTo(value - halfWidth, 1);
    expect(high).toBeCloseTo(value + halfWidth, 1);
    expect(high - low).toBeGreaterThan(0.1);
  });

  test("has no width where all are the same, and counts sets, not items", () => {
    expect(estimateMean([1, 1, 1])).toEqual({ value: 1, low: 1, high: 1 });
    expect(estimateMeanOfMeans([[1, 1, 1, 1], [0]])).toEqual({ value: 0.5, low: 0.5, high: 0.5 });
  });

  test("draws as many as there are, with replacement, each group by itself", () => {
    let repeats = 0;
    replicates([3, 5], (some, others) => {
      expect([some?.length, others?.length]).toEqual([3, 5]);
      repeats += 5 - new Set(others).size;
      return 0;
    });
    expect(repeats).toBeGreaterThan(500);
  });
});
