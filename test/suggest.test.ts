import { expect, test } from "vitest";
import { didYouMean, suggestion } from "../src/suggest.js";

const FIELDS = ["query", "namespace", "top_k", "min_score", "mode", "fields", "after", "before"];
const OPERATORS = ["$eq", "$ne", "$in", "$nin", "$exists", "$not", "$gt", "$gte", "$lt", "$lte"];

test.each([
  ["topk", FIELDS, "top_k"],
  ["top-k", FIELDS, "top_k"],
  ["TOP_K", FIELDS, "top_k"],
  ["minScore", FIELDS, "min_score"],
  ["qeury", FIELDS, "query"],
  ["name_spaces", FIELDS, "namespace"],
  // Swapped neighbors are one slip, not two.
  ["tpo_k", FIELDS, "top_k"],
  ["mdoe", FIELDS, "mode"],
  ["txet", ["text", "ttl"], "text"],
  ["mod", FIELDS, "mode"],
  ["limit", FIELDS, undefined],
  ["", FIELDS, undefined],
  ["title", ["text", "ttl"], undefined],
  ["gte", OPERATORS, "$gte"],
  ["$GTE", OPERATORS, "$gte"],
  ["$gt e", OPERATORS, "$gte"],
  ["$neq", OPERATORS, "$ne"],
  ["$exist", OPERATORS, "$exists"],
  // One letter of two is no slip.
  ["$el", OPERATORS, undefined],
  ["hybrid", ["COSINE", "HYBRID"], "HYBRID"],
])("%j among %j is meant to be %j", (word, candidates, meant) => {
  expect(didYouMean(word, candidates)).toBe(meant);
  expect(suggestion(word, candidates)).toBe(meant === undefined ? "" : `; did you mean ${meant}?`);
});

test.each([
  ["newest", ["NEWEST_FIRST", "OLDEST_FIRST", "EVENT_TIME_NEWEST_FIRST"], "NEWEST_FIRST"],
  ["READ_ONLY", ["KEY_ACCESS_FULL", "KEY_ACCESS_READ_ONLY"], "KEY_ACCESS_READ_ONLY"],
  ["meta", ["text", "metadata"], "metadata"],
])("a message that refuses %j takes it for a part of a name: %j", (word, candidates, meant) => {
  expect(suggestion(word, candidates)).toBe(`; did you mean ${meant}?`);
});

test("three letters are part of too many names", () => {
  expect(suggestion("met", ["metadata"])).toBe("");
});

test("a word of megabytes is cut before it is compared", () => {
  const long = "top_k".repeat(1_000_000);
  const began = performance.now();
  for (let i = 0; i < 1_000; i++) expect(didYouMean(long, FIELDS)).toBeUndefined();
  expect(performance.now() - began).toBeLessThan(1_000);
});
