import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalMetadata, isSame, type Json } from "../../src/memory/requests/metadata.js";

/** Reverses the order of the keys of each object in a value. */
function turned(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(turned);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, turned(inner)]),
  );
}

it("metadata has one canonical form, whatever the order of its keys", () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }));
  fc.assert(
    fc.property(objects, (value) => {
      const canonical = canonicalMetadata(JSON.stringify(value));
      expect(canonicalMetadata(JSON.stringify(turned(value)))).toBe(canonical);
      // The meaning is unchanged.
      expect(JSON.parse(canonical)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it.each([
  ['{"a":[1,2]}', '{"a":[2,1]}'],
  ['{"a":{"b":1}}', '{"a":{"b":"1"}}'],
  ['{"__proto__":{"a":1}}', "{}"],
])("metadata that differs has two canonical forms: %s, %s", (one, other) => {
  expect(canonicalMetadata(one)).not.toBe(canonicalMetadata(other));
});

it("metadata is the same if and only if its canonical form is", () => {
  const few = fc.constantFrom("a", "b", "__proto__");
  const small = fc.letrec((tie) => ({
    value: fc.oneof(fc.constantFrom(null, 0, 1, "", "a", true), tie("list"), tie("object")),
    list: fc.array(tie("value"), { maxLength: 2 }),
    object: fc.dictionary(few, tie("value"), { maxKeys: 2 }),
  })).object;
  fc.assert(
    fc.property(small, small, (one, other) => {
      const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
      expect(isSame(JSON.parse(a), JSON.parse(b))).toBe(canonicalMetadata(a) === canonicalMetadata(b));
      expect(isSame(JSON.parse(a), turned(JSON.parse(a)) as Json)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
