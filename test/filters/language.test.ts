import { describe, expect, test } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { narrowed } from "../../src/memory/ports/condition.js";
import { FILTER_LIST_MAX, FILTER_STRING_BYTES_MAX, parseFilter } from "../../src/memory/requests/filter.js";
import { FILTER_PATH_BYTES_MAX } from "../../src/memory/requests/filter-path.js";
import { matches } from "../../src/memory/requests/matches.js";
import type { Json, JsonObject } from "../../src/memory/requests/metadata.js";
import { instantOf, parseInstant } from "../../src/memory/requests/times.js";
import { chanceOf } from "../support/chance.js";
import { quoted, rows, section } from "../support/documents.js";
import { naiveMatch } from "./naive.js";
import { exampleOf, filterOf } from "./random.js";

const CREATED_MS = Date.parse("2026-03-01T12:00:00.500Z");
const memory = { id: "mem_1", metadata: "{}", createdAtMs: CREATED_MS };

function match(filter: JsonObject, given: object = {}): boolean {
  const parsed = parseFilter(filter);
  if (parsed === undefined) throw new Error("the filter is empty");
  return matches(parsed.condition, { ...memory, ...given });
}

/** Makes a filter that is this many levels deep. */
const deep = (levels: number): JsonObject => (levels === 1 ? { a: 1 } : { $not: deep(levels - 1) });
const tests = (many: number): JsonObject => ({
  $or: Array.from({ length: Math.ceil(many / 50) }, (_, i) =>
    Object.fromEntries(Array.from({ length: Math.min(50, many - i * 50) }, (_, j) => [`k${j}`, 1])),
  ),
});
const list = (many: number) => Array.from({ length: many }, (_, i) => i);

describe("what docs/filters.md says", () => {
  const table = rows(section("docs/filters.md", "## Operators").split("Each row is tested:")[1] as string);

  test("the table has its rows", () => expect(table.length).toBeGreaterThan(40));

  test.each(table)("%s for %s is %s", (filter, metadata, says) => {
    const [parsed] = quoted(filter).map((text) => JSON.parse(text) as JsonObject);
    expect(match(parsed as JsonObject, { metadata: quoted(metadata)[0] })).toBe(says === "yes");
  });
});

describe("the fields beside metadata", () => {
  test.each<[JsonObject, boolean]>([
    [{ $id: "mem_1" }, true],
    [{ $id: { $in: ["mem_0", "mem_1"] } }, true],
    [{ $id: { $ne: "mem_1" } }, false],
    [{ $id: { $exists: true } }, true],
    [{ $created_at: "2026-03-01T12:00:00.5Z" }, true],
    [{ $created_at: "2026-03-01T13:00:00.500+01:00" }, true],
    [{ $created_at: { $gt: "2026-03-01T12:00:00.499999999Z" } }, true],
    [{ $created_at: { $gte: "2026-03-01T12:00:00.500000001Z" } }, false],
    [{ $created_at: { $lt: "2026-03-01T12:00:00.500000001Z" } }, true],
    [{ $created_at: "2026-03-01T12:00:00.500000001Z" }, false],
    [{ $updated_at: { $lte: "2026-03-01T12:00:00.500Z" } }, true],
    [{ $event_time: "2026-03-01T12:00:00.5Z" }, true],
    [{ $event_time: { $lt: "2026-03-01T12:00:00.5Z" } }, false],
    [{ $event_time: { $exists: true } }, true],
    [{ $external_id: { $exists: true } }, false],
    [{ $external_id: { $ne: "x" } }, true],
  ])("%j matches: %s", (filter, says) => expect(match(filter)).toBe(says));

  test("a memory may have been updated, and have an id of the caller", () => {
    const changed = { updatedAtMs: CREATED_MS + 1000, externalId: "doc-7" };
    expect(match({ $updated_at: { $gt: "2026-03-01T12:00:01Z" } }, changed)).toBe(true);
    expect(match({ $external_id: { $prefix: "doc-" } }, changed)).toBe(true);
    expect(match({ $external_id: { $contains: "7" } }, changed)).toBe(true);
    expect(match({ $external_id: { $gt: "doc-6" } }, changed)).toBe(true);
  });

  test("what happened at another time than it was stored is found by that time alone", () => {
    const march = { eventAtMs: Date.parse("2016-03-05T09:30:00Z") };
    expect(match({ $event_time: "2016-03-05T10:30:00+01:00" }, march)).toBe(true);
    expect(match({ $event_time: { $gt: "2026-01-01T00:00:00Z" } }, march)).toBe(false);
    expect(match({ $created_at: { $gt: "2026-01-01T00:00:00Z" } }, march)).toBe(true);
    const inMarch = narrowed(undefined, { after: march.eventAtMs - 1, before: march.eventAtMs + 1 });
    expect(inMarch && matches(inMarch, { ...memory, ...march })).toBe(true);
    expect(inMarch && matches(inMarch, memory)).toBe(false);
  });

  test("`after` and `before` leave out what was stored at that time", () => {
    const between = (after: number, before: number) => {
      const condition = narrowed(undefined, { after, before });
      return condition && matches(condition, memory);
    };
    expect(between(CREATED_MS - 1, CREATED_MS + 1)).toBe(true);
    expect(between(CREATED_MS, CREATED_MS + 1)).toBe(false);
    expect(between(CREATED_MS - 1, CREATED_MS)).toBe(false);
    expect(between(CREATED_MS - 0.5, CREATED_MS + 0.5)).toBe(true);
    const both = narrowed(parseFilter({ a: 1 })?.condition, { after: CREATED_MS - 1 });
    expect(both && matches(both, memory)).toBe(false);
    expect(narrowed(undefined, {})).toBeUndefined();
  });
});

describe("refusals", () => {
  test.each<[JsonObject, place: string, says: RegExp]>([
    [{ a: { $foo: 1 } }, "filter.a.$foo", /none of the operators: \$eq, /],
    [{ a: { b: 1 } }, "filter.a.b", /no operator.*"a\.b"$/],
    [{ a: { gte: 1 } }, "filter.a.gte", /no operator.*; did you mean \$gte\?$/],
    [{ a: { $neq: 1 } }, "filter.a.$neq", /none of the operators.*; did you mean \$ne\?$/],
    [{ a: { "$gt e": 1 } }, "filter.a.$gt e", /did you mean \$gte\?$/],
    [{ $createdAt: 1 }, "filter.$createdAt", /did you mean \$created_at\?$/],
    [{ $id: { eq: "a" } }, "filter.$id.eq", /operators of \$id.*; did you mean \$eq\?$/],
    [{ a: {} }, "filter.a", /empty object/],
    [{ a: [1] }, "filter.a", /array or an object/],
    [{ a: { $eq: {} } }, "filter.a.$eq", /array or an object/],
    [{ a: { $gt: true } }, "filter.a.$gt", /a number or a string/],
    [{ a: { $gt: null } }, "filter.a.$gt", /a number or a string/],
    [{ a: { $in: "x" } }, "filter.a.$in", /an array/],
    [{ a: { $in: [] } }, "filter.a.$in", /1 to 256/],
    [{ a: { $in: [1, [2]] } }, "filter.a.$in[1]", /array or an object/],
    [{ a: { $nin: list(FILTER_LIST_MAX + 1) } }, "filter.a.$nin", /257 values/],
    [{ a: { $exists: 1 } }, "filter.a.$exists", /true or false/],
    [{ a: { $prefix: 1 } }, "filter.a.$prefix", /must be a string/],
    [{ a: { $contains: [] } }, "filter.a.$contains", /array or an object/],
    [{ a: Number.NaN }, "filter.a", /not finite/],
    [{ a: "\ud800" }, "filter.a", /surrogate/],
    [{ a: "x".repeat(FILTER_STRING_BYTES_MAX + 1) }, "filter.a", /4,097 bytes; the limit is 4,096/],
    [{ $where: "1" }, "filter.$where", /none of \$and, \$or, \$not, \$id/],
    [{ $and: {} }, "filter.$and", /array of filters/],
    [{ $or: [] }, "filter.$or", /1 to 256/],
    [{ $or: [{ a: 1 }, 2] }, "filter.$or[1]", /must be an object/],
    [{ $or: [{ a: 1 }, {}] }, "filter.$or[1]", /empty/],
    [{ $not: [] }, "filter.$not", /must be an object/],
    [{ $or: [{ a: 1 }, { b: { $gte: [] } }] }, "filter.$or[1].b.$gte", /a number or a string/],
    [{ $id: 1 }, "filter.$id", /must be a string/],
    [{ $id: { $gt: "a" } }, "filter.$id.$gt", /operators of \$id: /],
    [{ $created_at: 1 }, "filter.$created_at", /RFC 3339/],
    [{ $created_at: { $gt: "yesterday" } }, "filter.$created_at.$gt", /RFC 3339/],
    [{ $created_at: { $prefix: "2026" } }, "filter.$created_at.$prefix", /operators of \$created_at/],
    [{ $external_id: null }, "filter.$external_id", /must be a string/],
    [{ "a\\b": 1 }, "filter.a\\b", /backslash/],
    [{ [Array(17).fill("k").join(".")]: 1 }, `filter.${Array(17).fill("k").join(".")}`, /16 keys/],
    [{ ["k".repeat(FILTER_PATH_BYTES_MAX + 1)]: 1 }, `filter.${"k".repeat(64)}…`, /512 bytes/],
    [deep(6), "filter.$not.$not.$not.$not.$not", /more than 5 levels/],
    [
      { $not: { $not: { $not: { $not: { a: { $not: 1 } } } } } },
      "filter.$not.$not.$not.$not.a.$not",
      /5 levels/,
    ],
    [tests(201), "filter.$or[4].k0", /at most 200 tests/],
    [
      { a: { $in: list(17).map((i) => `${i}`.repeat(3_900 / `${i}`.length)) } },
      "filter",
      /the limit is 65,536/,
    ],
  ])("%#: one is refused by its place", (filter, place, says) => {
    const refuse = () => parseFilter(filter);
    expect(refuse).toThrow(MemoryError);
    expect(refuse).toThrow(expect.objectContaining({ code: "invalid_argument", field: place }));
    expect(refuse).toThrow(says);
  });

  test.each<[string, JsonObject]>([
    ["levels", deep(5)],
    ["tests", tests(200)],
    ["values", { a: { $in: list(FILTER_LIST_MAX) } }],
    ["a string", { a: "x".repeat(FILTER_STRING_BYTES_MAX) }],
    ["a path", { ["k".repeat(FILTER_PATH_BYTES_MAX)]: 1 }],
    ["keys", { [Array(16).fill("k").join(".")]: 1 }],
  ])("as many %s as there may be are accepted", (_, filter) => {
    expect(parseFilter(filter)).toBeDefined();
  });

  test("a filter too deep for a stack is refused by its depth", () => {
    let filter: Json = { a: 1 };
    for (let i = 0; i < 100_000; i++) filter = { $not: filter };
    expect(() => parseFilter(filter as JsonObject)).toThrow(/levels deep/);
  });

  test("an empty filter is none", () => {
    expect(parseFilter({})).toBeUndefined();
    expect(parseFilter(undefined)).toBeUndefined();
  });
});

test("the same filter has the same key, whatever the order of its members", () => {
  const key = (filter: JsonObject) => parseFilter(filter)?.key;
  expect(key({ a: 1, b: { $gt: 1, $lt: 2 } })).toBe(key({ b: { $lt: 2, $gt: 1 }, a: 1 }));
  expect(key({ a: 1 })).not.toBe(key({ a: 2 }));
});

describe("times", () => {
  test.each<[string, number | undefined]>([
    ["1970-01-01T00:00:00Z", 0],
    ["1970-01-01t00:00:00z", 0],
    ["1970-01-01T01:00:00+01:00", 0],
    ["1969-12-31T23:00:00.001-01:00", 1],
    ["0001-01-01T00:00:00Z", -62_135_596_800_000],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
    ["1970-01-01T00:00:00.0000001Z", 0.5],
    ["2023-02-29T00:00:00Z", undefined],
    ["2026-13-01T00:00:00Z", undefined],
    ["2026-00-10T00:00:00Z", undefined],
    ["2026-01-01T24:00:00Z", undefined],
    ["2026-01-01T00:00:00", undefined],
    ["2026-01-01", undefined],
    ["2026-01-01T00:00:00+24:00", undefined],
    ["1970-01-01T00:00:00.Z", undefined],
  ])("%s", (text, ms) => expect(parseInstant(text)).toBe(ms));

  test("an instant before 1970 has its place between two milliseconds", () => {
    expect(instantOf({ seconds: -1, nanos: 999_999_999 })).toBe(-0.5);
    expect(instantOf({ seconds: -1, nanos: 0 })).toBe(-1000);
  });
});

test("a random filter matches as its JSON says", () => {
  const chance = chanceOf(17);
  let [yes, no] = [0, 0];
  for (let round = 0; round < 4_000; round++) {
    const filter = filterOf(chance);
    const { condition } = parseFilter(filter) ?? {};
    if (condition === undefined) throw new Error("the filter is empty");
    for (let i = 0; i < 5; i++) {
      const example = exampleOf(chance, i);
      const expected = naiveMatch(filter, example);
      const subject = { ...example, metadata: JSON.stringify(example.metadata) };
      expect(matches(condition, subject), JSON.stringify({ filter, example })).toBe(expected);
      if (expected) yes++;
      else no++;
    }
  }
  expect(Math.min(yes, no)).toBeGreaterThan(3_900);
});
