import { expect, it } from "vitest";
import { compareTied } from "../../../src/index/vectors/compare.js";

it("of very many vectors that are equally near, no more are found than can be looked at in a moment", () => {
  const all = Int8Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? 3 : 4));
  const query = Int8Array.of(3, 4);
  expect(compareTied(all, query, 10).keys.length).toBe(10 + 4_096);
  // As many as one chunk of the tail has: all of them.
  expect(compareTied(all.slice(0, 2 * 4_096), query, 10).keys.length).toBe(4_096);
});
