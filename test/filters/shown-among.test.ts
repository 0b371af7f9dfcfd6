import { expect, test } from "vitest";
import { Selection } from "../../src/memory/fields/selection.js";
import { shownAmong } from "../../src/memory/fields/shown-among.js";
import { Hidden } from "../../src/memory/versions/hidden.js";
import { chanceOf } from "../support/chance.js";

const selectionOf = (numbers: Iterable<number>) => new Selection(Float64Array.from(numbers));
const range = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

function run<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

test("a selection is shown without what is hidden, be it much or little", () => {
  const hidden = new Hidden();
  hidden.add({ sequence: 9, supersedes: [2, 4] });
  hidden.add({ sequence: 5, expiresAtMs: 100 });
  hidden.add({ sequence: 4, expiresAtMs: 100 });
  hidden.add({ sequence: 7, expiresAtMs: 200 });
  for (const numbers of [range(9), [2, 5, 7], [4], [], [100, 200, 300, 400, 500, 600]]) {
    for (const includeSuperseded of [false, true]) {
      for (const nowMs of [0, 100, 300]) {
        const viewing = { nowMs, includeSuperseded };
        const shown = run(shownAmong(selectionOf(numbers), { hidden, viewing }));
        const expected = numbers.filter((each) => hidden.isShown(each, viewing));
        expect([...shown.sequences], JSON.stringify([numbers, viewing])).toEqual(expected);
      }
    }
  }
});

test("a selection grows and shrinks", () => {
  const some = selectionOf([3, 5, 9]);
  expect([...some.with([12, 1, 4, 6]).sequences]).toEqual([1, 3, 4, 5, 6, 9, 12]);
  expect([...some.with([]).sequences]).toEqual([3, 5, 9]);
  expect([...run(some.without([9, 1, 3, 3, 20])).sequences]).toEqual([5]);
  expect([...some.sequences]).toEqual([3, 5, 9]);
});

test("a selection counts and lists what is between two numbers, listed or marked", () => {
  const chance = chanceOf(1);
  for (const size of [0, 1, 31, 32, 33, 64, 1_000]) {
    const numbers = range(size).map((i) => 3 * i);
    const gone = new Set(numbers.filter(() => chance.below(2) === 0));
    const left = numbers.filter((each) => !gone.has(each));
    const all = [selectionOf(left), run(selectionOf(numbers).without(gone))];
    for (let i = 0; i < 200; i++) {
      const [first, last] = [chance.below(3 * size + 5), chance.below(3 * size + 5)];
      const expected = left.filter((each) => each >= first && each <= last);
      for (const selection of all) {
        expect([...selection.between(first, last)]).toEqual(expected);
        expect(selection.countBetween(first, last)).toBe(expected.length);
        expect(selection.has(first)).toBe(left.includes(first));
      }
    }
    for (const selection of all) {
      expect([...selection.sequences]).toEqual(left);
      expect([selection.size, selection.last]).toEqual([left.length, left.at(-1)]);
    }
  }
});
