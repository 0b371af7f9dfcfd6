import { expect, test } from "vitest";
import { Selection } from "../../../src/index/fields/selection.js";
import { Bits } from "../../../src/index/rows/bits.js";
import { chanceOf } from "../../support/chance.js";

const selectionOf = (numbers: Iterable<number>) => Selection.from(Float64Array.from(numbers));

test("a selection grows, and stays as it was", () => {
  const some = selectionOf([3, 5, 9]);
  expect([...some.with([12, 1, 4, 6]).sequences]).toEqual([1, 3, 4, 5, 6, 9, 12]);
  expect([...some.with([]).sequences]).toEqual([3, 5, 9]);
  expect([...some.sequences]).toEqual([3, 5, 9]);
});

test("a selection of no rows, or of no segments, is empty", () => {
  for (const empty of [new Selection([]), selectionOf([])]) {
    expect(empty.size).toBe(0);
    expect(empty.has(1)).toBe(false);
    expect(empty.countBetween(0, 100)).toBe(0);
    expect([...empty.between(0, 100)]).toEqual([]);
  }
});

test("a selection in segments is as one list, also if the segments lie between each other", () => {
  const chance = chanceOf(1);
  for (let round = 0; round < 200; round++) {
    const isApart = chance.next() < 0.5;
    const segments = Array.from({ length: 1 + chance.below(4) }, () => [] as number[]);
    for (let sequence = 1; sequence <= 100; sequence++) {
      const at = isApart ? Math.floor((sequence * segments.length) / 101) : chance.below(segments.length);
      if (chance.next() < 0.7) segments[at]?.push(sequence);
    }
    const selected: number[] = [];
    const parts = segments.map((numbers) => {
      const rows = new Bits(numbers.length);
      for (const [row, sequence] of numbers.entries()) {
        if (chance.next() < 0.5) continue;
        rows.add(row);
        selected.push(sequence);
      }
      return { sequences: Float64Array.from(numbers), rows };
    });
    selected.sort((a, b) => a - b);
    const selection = new Selection(parts);
    expect(selection.size).toBe(selected.length);
    expect([...selection.sequences]).toEqual(selected);
    for (let i = 0; i < 20; i++) {
      const [first, last] = [chance.below(110), chance.below(110)];
      const within = selected.filter((each) => first <= each && each <= last);
      expect([...selection.between(first, last)]).toEqual(within);
      expect(selection.countBetween(first, last)).toBe(within.length);
      expect(selection.has(first)).toBe(selected.includes(first));
    }
  }
});
