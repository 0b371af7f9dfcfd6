import { describe, expect, test } from "vitest";
import { FieldIndex } from "../../src/memory/fields/field-index.js";
import { matches, type Subject } from "../../src/memory/filter/matches.js";
import { parseFilter } from "../../src/memory/filter/parse.js";
import type { JsonObject } from "../../src/memory/input/json-object.js";
import type { Condition } from "../../src/memory/ports/condition.js";
import { type Chance, chanceOf } from "../support/chance.js";
import { exampleOf, filterOf } from "./random.js";

const conditionOf = (filter: JsonObject) => parseFilter(filter)?.condition as Condition;

/** Runs a selection to its end; `between` is called whenever it lets other work run. */
function select(
  index: FieldIndex,
  condition: Condition,
  ids = new Map<unknown, number>(),
  between = () => {},
) {
  const work = index.select(condition, ids);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    between();
  }
}

/** Memories in an index, with gaps between their log numbers, and some of them removed. */
function filled(chance: Chance, { bytesMax = Number.POSITIVE_INFINITY, count = 200 } = {}) {
  const index = new FieldIndex(bytesMax);
  const living = new Map<number, Subject>();
  for (let i = 0, sequence = 0; i < count; i++) {
    sequence += 1 + chance.below(3);
    const { metadata, ...rest } = exampleOf(chance, sequence);
    const changed = chance.next() < 0.1 ? { updatedAtMs: rest.createdAtMs + 5_000 } : {};
    const named = chance.next() < 0.5 ? { externalId: `doc-${sequence}` } : {};
    const happened = chance.next() < 0.1 ? { eventAtMs: rest.createdAtMs - 5_000 } : {};
    const subject = { ...rest, ...changed, ...happened, ...named, metadata: JSON.stringify(metadata) };
    index.add(sequence, subject);
    living.set(sequence, subject);
    if (chance.next() < 0.3) {
      const gone = chance.pick([...living.keys()]);
      index.remove(gone);
      living.delete(gone);
    }
  }
  const ids = new Map<unknown, number>([...living].map(([sequence, { id }]) => [id, sequence]));
  return { index, living, ids };
}

const truth = (living: ReadonlyMap<number, Subject>, condition: Condition) =>
  [...living].filter(([, subject]) => matches(condition, subject)).map(([sequence]) => sequence);

describe("an index of fields", () => {
  test("selects ranges of numbers across many chunks, also after removals and new memories", () => {
    const chance = chanceOf(11);
    const index = new FieldIndex(Number.POSITIVE_INFINITY);
    const living = new Map<number, Subject>();
    const add = (sequence: number) => {
      const number = chance.below(5_000);
      const kinds = [number, number, -number / 7, [number, "x", -number], `${number}`, { of: number }, null];
      const metadata = JSON.stringify({ n: chance.pick(kinds) });
      const subject = { id: `m${sequence}`, metadata, createdAtMs: sequence };
      index.add(sequence, subject);
      living.set(sequence, subject);
    };
    const check = () => {
      for (const [op, sign] of [
        ["$lt", 1],
        ["$lte", 1],
        ["$gt", -1],
        ["$gte", -1],
        ["$gt", 1],
      ] as const) {
        const condition = conditionOf({ n: { [op]: sign * chance.below(5_000) } });
        expect([...select(index, condition).selection.sequences]).toEqual(truth(living, condition));
      }
    };
    for (let sequence = 1; sequence <= 10_000; sequence++) add(sequence);
    check();
    for (let i = 0; i < 500; i++) {
      const gone = chance.pick([...living.keys()]);
      index.remove(gone);
      living.delete(gone);
      if (i % 100 === 0) check();
    }
    for (let sequence = 10_001; sequence <= 14_000; sequence++) add(sequence);
    check();
  });

  test("selects what matches, whatever the filter, and whatever was removed", () => {
    const chance = chanceOf(5);
    let selected = 0;
    for (let round = 0; round < 20; round++) {
      const { index, living, ids } = filled(chance);
      expect(index.living).toBe(living.size);
      for (let i = 0; i < 100; i++) {
        const filter = filterOf(chance, { memories: 400 });
        const condition = conditionOf(filter);
        const { selection, unknown } = select(index, condition, ids);
        expect([...selection.sequences], JSON.stringify(filter)).toEqual(truth(living, condition));
        expect(unknown).toEqual([]);
        selected += selection.size;
      }
    }
    expect(selected).toBeGreaterThan(50_000);
  });

  test("knows ids of callers and times of changes", () => {
    const { index, living } = filled(chanceOf(6));
    for (const filter of [
      { $external_id: { $prefix: "doc-1" } },
      { $external_id: { $exists: false } },
      { $updated_at: { $gt: "2026-01-01T00:00:20Z" } },
    ]) {
      const expected = truth(living, conditionOf(filter));
      expect(expected.length).toBeGreaterThan(0);
      expect([...select(index, conditionOf(filter)).selection.sequences]).toEqual(expected);
    }
  });

  test("names the memories that it had no room for, and no other", () => {
    const { index, living, ids } = filled(chanceOf(7), { bytesMax: 30_000 });
    const condition = conditionOf({ a: { $exists: true } });
    const { selection, unknown } = select(index, condition, ids);
    expect(unknown.length).toBeGreaterThan(20);
    expect(selection.size).toBeGreaterThan(0);
    const left = new Set(unknown);
    const known = new Map([...living].filter(([sequence]) => !left.has(sequence)));
    expect([...selection.sequences]).toEqual(truth(known, condition));
    expect(unknown.every((sequence) => living.has(sequence))).toBe(true);
  });

  test("keeps no value of a removed memory", () => {
    const index = new FieldIndex(Number.POSITIVE_INFINITY);
    const add = (sequence: number, metadata: JsonObject) =>
      index.add(sequence, { id: `mem_${sequence}`, createdAtMs: 0, metadata: JSON.stringify(metadata) });
    add(1, { secret: "x".repeat(5_000), shared: "both" });
    add(2, { shared: "both" });
    const before = index.bytes;
    index.remove(1);
    expect(before - index.bytes).toBeGreaterThan(5_000);
    const found = (filter: JsonObject) => [...select(index, conditionOf(filter)).selection.sequences];
    expect(found({ secret: { $exists: true } })).toEqual([]);
    expect(found({ shared: "both" })).toEqual([2]);
    // A number that is not in it, and one that is gone already.
    index.remove(7);
    index.remove(1);
    expect(index.living).toBe(1);
  });

  test("is as it was when a selection began, but for what was removed meanwhile", () => {
    const index = new FieldIndex(Number.POSITIVE_INFINITY);
    const add = (sequence: number) =>
      index.add(sequence, { id: `mem_${sequence}`, createdAtMs: sequence, metadata: `{"a":${sequence}}` });
    for (let i = 1; i <= 70_000; i++) add(i);
    let next = 70_001;
    const between = () => {
      index.remove(next - 70_000);
      add(next++);
    };
    const condition = conditionOf({ $not: { a: { $gt: 70_000 } } });
    const { sequences } = select(index, condition, new Map(), between).selection;
    expect(next).toBeGreaterThan(70_003);
    expect(sequences.at(-1)).toBe(70_000);
    // What was removed in the last pause is left out by who fetches it.
    expect(sequences[0]).toBeGreaterThan(1);
    expect(sequences[0]).toBeLessThanOrEqual(next - 70_000);
  });

  test("is wasteful when most of it is of removed memories", () => {
    const index = new FieldIndex(Number.POSITIVE_INFINITY);
    const count = 40_000;
    for (let i = 1; i <= count; i++) index.add(i, { id: `mem_${i}`, createdAtMs: 0, metadata: "{}" });
    for (let i = 1; i <= count / 2; i++) index.remove(i);
    expect(index.isWasteful).toBe(false);
    index.remove(count);
    expect(index.isWasteful).toBe(true);
  });
});
