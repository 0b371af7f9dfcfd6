import { expect, it } from "vitest";
import { tableOf } from "../../cli/output.js";

it("a table's columns stand below each other in a terminal, whatever script their cells have", () => {
  const names = ["plain", "日本語の鍵", "한국어", "cafe\u0301", "👩‍👩‍👧‍👦 ok", "🇵🇹", "ａｂ", "مرحبا", ""];
  const lines = tableOf({ name: (name) => name, end: () => "|" }, names);
  expect(lines).toEqual([
    "name        end",
    "plain       |",
    "日本語の鍵  |",
    "한국어      |",
    "cafe\u0301        |",
    "👩‍👩‍👧‍👦 ok       |",
    "🇵🇹          |",
    "ａｂ        |",
    "مرحبا       |",
    "            |",
  ]);
});
