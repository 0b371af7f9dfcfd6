import { describe, expect, test, vi } from "vitest";
import { FieldPart, mergeFields } from "../../../src/index/fields/field-part.js";
import { KIND, keyOf } from "../../../src/index/fields/keys.js";
import { rowFieldsOf } from "../../../src/index/fields/row-fields.js";
import { isRemoved } from "../../../src/index/rows/inverted.js";
import { type Chance, chanceOf } from "../../support/chance.js";
import { straysIn } from "../postings.js";
import { conditionOf, createdOf, numberOnlyIn, subjectOf } from "./random.js";
import { copyOf, run, Segments } from "./segments.js";

/** Makes segments of memories with gaps between their log numbers. */
function filled(chance: Chance, { segments = 6, rows = 40 } = {}): Segments {
  const made = new Segments();
  let sequence = 0;
  for (let i = 0; i < segments; i++) {
    const subjects = Array.from({ length: 1 + chance.below(rows) }, () => {
      sequence += 1 + chance.below(3);
      return [sequence, subjectOf(chance, sequence)] as const;
    });
    made.add(new Map(subjects));
  }
  return made;
}

const sequencesIn = (segments: Segments) => segments.highest;

function anyOf(chance: Chance, segments: Segments): number {
  const end = sequencesIn(segments) + 1;
  for (;;) {
    const sequence = chance.below(end);
    if (segments.living.has(sequence)) return sequence;
  }
}

function check(chance: Chance, segments: Segments, count: number): number {
  let selected = 0;
  for (let i = 0; i < count; i++) {
    const condition = conditionOf(chance, sequencesIn(segments));
    const selection = segments.select(condition);
    expect([...selection.sequences], JSON.stringify(condition)).toEqual(segments.truth(condition));
    selected += selection.size;
  }
  return selected;
}

/** A set that reports each value that is read. */
class CountedSet extends Set<number> {
  constructor(
    values: readonly number[],
    private readonly onRead: () => void,
  ) {
    super(values);
  }

  override *[Symbol.iterator](): SetIterator<number> {
    for (const value of super.values()) {
      this.onRead();
      yield value;
    }
  }
}

/** Expects that the texts, keys, numbers and times are those of memories that live. */
function expectErased(segments: Segments, removed: readonly number[]): void {
  const found = segments
    .bytes()
    .flatMap((bytes) => [
      ...bytes.toString("latin1").matchAll(/(?:text only in |key-only-in-|external )(\d+)\./g),
    ]);
  expect(found.length).toBeGreaterThan(segments.living.size);
  expect(found.filter(([, sequence]) => !segments.living.has(Number(sequence)))).toEqual([]);
  for (const sequence of removed.slice(-40)) {
    expect(segments.hold(keyOf(KIND.number, numberOnlyIn(sequence)).subarray(1))).toBe(false);
    for (const time of [createdOf(sequence), createdOf(sequence) + 500, createdOf(sequence) - 250]) {
      expect(segments.hold(new Uint8Array(Float64Array.of(time).buffer))).toBe(false);
    }
  }
}

describe("the fields of segments", { timeout: 120_000 }, () => {
  test("select what matches, whatever the condition, the segments, what was merged and what was removed", () => {
    const chance = chanceOf(1);
    let selected = 0;
    for (let round = 0; round < 6; round++) {
      const segments = filled(chance);
      selected += check(chance, segments, 60);
      for (let step = 0; step < 4; step++) {
        for (let i = chance.below(20); i > 0 && segments.living.size > 0; i--) {
          segments.remove(anyOf(chance, segments));
        }
        selected += check(chance, segments, 40);
        const from = chance.below(segments.all.length);
        const chosen = segments.all.slice(from, from + 1 + chance.below(segments.all.length - from));
        segments.merge(chosen, (remove) => {
          if (chance.next() < 0.5 && segments.living.size > 0) remove(anyOf(chance, segments));
        });
        selected += check(chance, segments, 40);
      }
    }
    expect(selected).toBeGreaterThan(25_000);
  });

  test("hold nothing of what was removed, in memory or as stored, also when it was while they were merged", () => {
    const chance = chanceOf(2);
    const segments = filled(chance, { segments: 8, rows: 300 });
    const removed: number[] = [];
    const removeAny = (remove: (sequence: number) => void) => {
      const sequence = anyOf(chance, segments);
      remove(sequence);
      removed.push(sequence);
    };
    for (let i = 0; i < 60; i++) removeAny((sequence) => segments.remove(sequence));
    let steps = 0;
    segments.merge(segments.all.slice(0, 5), (remove) => {
      steps++;
      for (let i = 0; i < 3; i++) removeAny(remove);
    });
    segments.merge(segments.all, (remove) => removeAny(remove));
    for (let i = 0; i < 60; i++) removeAny((sequence) => segments.remove(sequence));
    expect(steps).toBeGreaterThan(10);
    expectErased(segments, removed);
    for (const { fields, stored } of segments.all) {
      expect(stored).toEqual(fields.arrays);
      expect(fields.arrays.postings.some(isRemoved)).toBe(true);
      expect(straysIn(fields.arrays)).toEqual([]);
    }
    check(chance, segments, 100);
    const kept = [...segments.living].find(([, { metadata }]) => metadata.includes('"number":-'))?.[0] ?? 0;
    expect(segments.hold(keyOf(KIND.number, numberOnlyIn(kept)).subarray(1))).toBe(true);
    expect(segments.hold(new Uint8Array(Float64Array.of(createdOf(kept)).buffer))).toBe(true);
    for (const sequence of [...segments.living.keys()]) segments.remove(sequence);
    for (const { fields } of segments.all) {
      expect(fields.arrays.keys.every((byte) => byte === 0)).toBe(true);
      for (const array of [fields.arrays.counts, fields.arrays.forward]) {
        expect(array.every((number) => number === 0)).toBe(true);
      }
      expect(fields.arrays.postings.every(isRemoved)).toBe(true);
      expect(straysIn(fields.arrays)).toEqual([]);
    }
  });

  test("select what lives at the end when memories are removed meanwhile", () => {
    const chance = chanceOf(3);
    for (let round = 0; round < 100; round++) {
      const segments = filled(chance, { segments: 4 });
      const condition = conditionOf(chance, sequencesIn(segments));
      const { sequences } = segments.select(condition, () => {
        if (segments.living.size > 0) segments.remove(anyOf(chance, segments));
      });
      expect([...sequences], JSON.stringify(condition)).toEqual(segments.truth(condition));
    }
  });

  test("let other work run between the values of a list: each may be behind many that were removed", () => {
    const segments = new Segments();
    const given = { id: "mem_1", createdAtMs: 1 };
    const many = Array.from({ length: 2_000 }, (_, i) => `value${i}`);
    segments.add(
      new Map([
        [1, { ...given, metadata: JSON.stringify({ tags: many }) }],
        [2, { ...given, metadata: JSON.stringify({ tags: ["zebra"] }) }],
      ]),
    );
    segments.remove(1);
    const values = new Set([...many.slice(0, 200), "zebra"]);
    let yields = 0;
    const condition = { kind: "test", field: ["tags"], test: { op: "in", values } } as const;
    const selection = segments.select(condition, () => yields++);
    expect([...selection.sequences]).toEqual([2]);
    expect(yields).toBeGreaterThanOrEqual(200);
  });

  test("take a filter's lists one by one: thousands of values together fill the memory, and hold the thread", () => {
    const segments = new Segments();
    segments.add(new Map([[1, { id: "mem_1", createdAtMs: 1, metadata: '{"level":7}' }]]));
    let read = 0;
    let mostAtOnce = 0;
    let before = 0;
    const lists = Array.from({ length: 199 }, (_, i) => new CountedSet([i, i + 1, i + 2], () => read++));
    const operands = lists.map(
      (values) => ({ kind: "test", field: ["level"], test: { op: "in", values } }) as const,
    );
    const { sequences } = segments.select({ kind: "any", operands }, () => {
      mostAtOnce = Math.max(mostAtOnce, read - before);
      before = read;
    });
    expect([...sequences]).toEqual([1]);
    expect(mostAtOnce).toBeLessThan(40);
  });

  test("pass over what was removed at once when a text of zeros is looked for", () => {
    const segments = new Segments();
    const subject = (i: number) => ({ id: `mem_${i}`, metadata: `{"text":"text ${i}"}`, createdAtMs: i });
    const numbers = Array.from({ length: 3_000 }, (_, i) => i + 1);
    segments.add(new Map(numbers.map((i) => [i, subject(i)])));
    const zeros = "\0".repeat(100);
    segments.add(new Map([[4_000, { ...subject(4_000), metadata: JSON.stringify({ text: `a${zeros}` }) }]]));
    // Only the first and the last text are left.
    for (const i of numbers) if (i !== 1 && i !== 999) segments.remove(i);
    const looks = vi.spyOn(Buffer.prototype, "indexOf");
    const condition = { kind: "test", field: ["text"], test: { op: "contains", value: zeros } } as const;
    expect([...segments.select(condition).sequences]).toEqual([4_000]);
    expect(looks.mock.calls.length).toBeLessThan(100);
    looks.mockRestore();
  });

  test("lose no row when lists of many rows shift meanwhile", () => {
    const chance = chanceOf(4);
    const segments = new Segments();
    const subject = (i: number) => ({
      id: `mem_${i}`,
      metadata: JSON.stringify({ common: i % 2, rare: i, text: `text ${i}` }),
      createdAtMs: i,
    });
    for (const base of [0, 20_000]) {
      const numbers = Array.from({ length: 20_000 }, (_, i) => base + i);
      segments.add(new Map(numbers.map((i) => [i, subject(i)])));
    }
    let steps = 0;
    const between = () => {
      steps++;
      segments.remove(anyOf(chance, segments));
    };
    for (const filter of [
      { kind: "test", field: ["common"], test: { op: "in", values: new Set([1, 0]) } },
      { kind: "test", field: ["rare"], test: { op: "gte", than: 7 } },
      { kind: "test", field: ["text"], test: { op: "contains", value: "1" } },
      { kind: "not", operand: { kind: "test", field: ["text"], test: { op: "prefix", text: "text 2" } } },
      { kind: "test", field: "$created_at", test: { op: "gt", than: 100 } },
    ] as const) {
      const { sequences } = segments.select(filter, between);
      expect(sequences.join() === segments.truth(filter).join()).toBe(true);
    }
    segments.merge(segments.all, (remove) => remove(anyOf(chance, segments)));
    const all = { kind: "test", field: ["rare"], test: { op: "exists" } } as const;
    expect(segments.select(all, between).sequences.join() === segments.truth(all).join()).toBe(true);
    expect(steps).toBeGreaterThan(15);
  });

  test("keep a value that one of two merged segments loses when it comes next", () => {
    const segments = new Segments();
    const rows = 3_000;
    for (const base of [1, 1 + rows]) {
      const numbers = Array.from({ length: rows }, (_, i) => base + i);
      const subject = (i: number) => ({ id: `mem_${i}`, metadata: `{"n":${i % rows}}`, createdAtMs: i });
      segments.add(new Map(numbers.map((i) => [i, subject(i)])));
    }
    segments.merge(segments.all, (remove) => {
      if (segments.living.has(1)) for (let i = 1; i <= rows; i++) remove(i);
    });
    for (let n = 0; n < rows; n++) {
      const equal = { kind: "test", field: ["n"], test: { op: "in", values: new Set([n]) } } as const;
      expect(segments.select(equal).size).toBe(1);
    }
  });

  test("are nothing but their arrays", () => {
    const chance = chanceOf(5);
    const segments = filled(chance, { segments: 1 });
    segments.remove(anyOf(chance, segments));
    const { fields } = segments.all[0] as (typeof segments.all)[0];
    const copy = new FieldPart(copyOf(fields.arrays));
    expect(copy).toEqual(fields);
    const bytes = Object.values(fields.arrays).reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(copy.bytes - bytes).toBeLessThan(10_000);
    const before = copyOf(fields.arrays);
    // A row that is gone already.
    fields.remove(
      [...Array(fields.arrays.created.length).keys()].find((row) => !segments.all[0]?.live.has(row)) ?? 0,
      () => {},
    );
    expect(fields.arrays).toEqual(before);
    const [alone] = segments.all;
    expect(run(mergeFields([], 0)).arrays.created).toHaveLength(0);
    expect(FieldPart.build([]).arrays.created).toHaveLength(0);
    expect(alone?.fields.arrays.created).toHaveLength(alone?.sequences.length ?? 0);
  });

  test("of one memory of 6 MB with 500,000 paths, or of the same paths below a long key, take few bytes", () => {
    const many = Array.from({ length: 500_000 }, (_, i) => `"k${i}":${i % 10}`).join();
    const one = FieldPart.build([rowFieldsOf({ metadata: `{${many}}`, createdAtMs: 1 })]);
    expect(one.bytes).toBeLessThan(50e6);
    const below = Array.from({ length: 5_000 }, (_, i) => `"k${i}":1`).join();
    const long = FieldPart.build([
      rowFieldsOf({ metadata: `{"${"x".repeat(8_000)}":{${below}}}`, createdAtMs: 1 }),
    ]);
    expect(long.bytes).toBeLessThan(500_000);
  });

  test("of objects in an array take time in proportion to their number, whatever their keys", () => {
    const timerOf = (length: number) => {
      const metadata = JSON.stringify({ a: Array.from({ length }, (_, i) => ({ [`k${i}`]: 1 })) });
      return () => {
        const startMs = performance.now();
        rowFieldsOf({ metadata, createdAtMs: 1 });
        return performance.now() - startMs;
      };
    };
    const [long, short] = [timerOf(4_000), timerOf(500)];
    // Each pair is timed together: a busy machine slows both down, and not all pairs.
    const ratios = Array.from({ length: 15 }, () => long() / short());
    expect(Math.min(...ratios)).toBeLessThan(25);
  });

  test("find many values of an array in about the same time when most of all are removed", () => {
    const segments = new Segments();
    const rows = Array.from({ length: 100 }, (_, i) => i + 1);
    const metadataOf = (row: number) =>
      JSON.stringify({ a: Array.from({ length: 2_000 }, (_, i) => row * 2_000 + i) });
    segments.add(
      new Map(rows.map((row) => [row, { id: `m${row}`, metadata: metadataOf(row), createdAtMs: 1 }])),
    );
    const values = new Set(Array.from({ length: 256 }, (_, i) => 2_000 + i));
    const timeOf = (found: number) => {
      const times = Array.from({ length: 5 }, () => {
        const startMs = performance.now();
        const selection = segments.select({ kind: "test", field: ["a"], test: { op: "in", values } });
        expect(selection.size).toBe(found);
        return performance.now() - startMs;
      });
      return Math.min(...times);
    };
    const before = timeOf(1);
    for (const row of rows.slice(0, 80)) segments.remove(row);
    // Each search that passes over all of them takes forty times as long.
    expect(timeOf(0) / before).toBeLessThan(10);
  });
});
