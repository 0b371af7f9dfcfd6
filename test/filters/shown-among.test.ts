import { expect, test } from "vitest";
import { Selection } from "../../src/memory/fields/selection.js";
import { shownAmong } from "../../src/memory/fields/shown-among.js";
import { Hidden } from "../../src/memory/versions/hidden.js";

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

test("a selection grows and shrinks by numbers in order", () => {
  const some = selectionOf([3, 5, 9]);
  expect([...some.with(Float64Array.of(1, 4, 6, 12)).sequences]).toEqual([1, 3, 4, 5, 6, 9, 12]);
  expect([...some.with(new Float64Array(0)).sequences]).toEqual([3, 5, 9]);
  expect([...some.without(Float64Array.of(1, 3, 3, 9, 20)).sequences]).toEqual([5]);
  expect([...some.sequences]).toEqual([3, 5, 9]);
});
