import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalMetadata } from "../../src/memory/requests/metadata.js";

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
