import { describe, expect, test } from "vitest";
import { firstByEventTime, type Times } from "../../src/index/event-order.js";
import { Selection } from "../../src/index/fields/selection.js";
import { Bits } from "../../src/index/rows/bits.js";
import type { EventOrder, Happened } from "../../src/memory/ports/index.js";
import { chanceOf } from "../support/chance.js";

/** Runs to its end; `between` is called whenever other work may run. */
function first(parts: readonly Times[], among: Selection, order: EventOrder, between = () => {}) {
  const work = firstByEventTime(parts, among, order);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    between();
  }
}

function partOf(sequences: Float64Array, events: Float64Array): Times {
  return { sequences, fields: { arrays: { events } }, live: Bits.all(sequences.length) };
}

/** Memories in parts that lie one behind the other, as segments do, and some of them. */
function filled(count: number, seed: number) {
  const chance = chanceOf(seed);
  const all: Happened[] = [];
  for (let i = 0, sequence = 0; i < count; i++) {
    sequence += 1 + chance.below(3);
    // Many happened at the same time, and some before 1970.
    all.push({ sequence, atMs: (chance.below(count / 2) - 20) * 1_000 });
  }
  const cut = chance.below(count);
  const parts = [all.slice(0, cut), all.slice(cut)].map((some) =>
    partOf(
      Float64Array.from(some, ({ sequence }) => sequence),
      Float64Array.from(some, ({ atMs }) => atMs),
    ),
  );
  const some = all.filter(() => chance.next() < 0.7);
  return { parts, some, among: Selection.from(Float64Array.from(some, ({ sequence }) => sequence)) };
}

describe("memories in the order of their event times", () => {
  test.each([false, true])("are in pages what sorting all gives; newest first: %s", (isNewestFirst) => {
    for (let seed = 1; seed <= 20; seed++) {
      const { parts, some, among } = filled(200, seed);
      const sorted = some.toSorted((a, b) => a.atMs - b.atMs || a.sequence - b.sequence);
      const pages: Happened[] = [];
      for (let after: Happened | undefined; ; after = pages.at(-1)) {
        const page = first(parts, among, { isNewestFirst, after, limit: 7 });
        pages.push(...page);
        if (page.length < 7) break;
      }
      expect(pages).toEqual(isNewestFirst ? sorted.reverse() : sorted);
    }
  });

  test("of indexes of the same range are none of them left out", () => {
    const ofNumbers = (...numbers: readonly number[]) =>
      partOf(Float64Array.from(numbers), Float64Array.from(numbers));
    // The second index has what others superseded, and the first has lost the rows of these.
    const parts = [ofNumbers(1, 3, 4, 8, 9), ofNumbers(2, 5, 7)];
    const among = Selection.from(Float64Array.of(1, 2, 4, 5, 7, 9));
    const found = first(parts, among, { isNewestFirst: false, limit: 10 });
    expect(found.map(({ sequence }) => sequence)).toEqual([1, 2, 4, 5, 7, 9]);
  });

  test("of a large namespace let other work run, and hold few at a time", () => {
    const count = 200_000;
    const sequences = Float64Array.from({ length: count }, (_, i) => i + 1);
    // In this order each is better than all before it.
    const events = Float64Array.from({ length: count }, (_, i) => i);
    let yields = 0;
    const order = { isNewestFirst: true, limit: 101 };
    const found = first([partOf(sequences, events)], Selection.from(sequences), order, () => yields++);
    expect(found.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 101 }, (_, i) => count - 1 - i));
    expect(yields).toBeGreaterThan(10);
  });
});
