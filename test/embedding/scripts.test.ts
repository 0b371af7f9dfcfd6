import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { scriptsIn, unreadShareOf } from "../../src/embedding/encode/vocabulary.js";

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));

describe("the bundled model's vocabulary", () => {
  let scripts: readonly string[];
  beforeAll(() => {
    const { vocab } = read("models/bundled/tokenizer.json").model as { vocab: Record<string, number> };
    scripts = scriptsIn(Object.keys(vocab)) ?? [];
  });

  it("knows Latin letters only", () => expect(scripts).toEqual(["Latin"]));

  it("reads texts of languages in Latin letters whole, and next to nothing of others", () => {
    const languages = read("eval/languages.json") as Record<string, [text: string, question: string][]>;
    const shares = Object.entries(languages).map(([language, pairs]) => {
      const all = pairs.flat().map((text) => unreadShareOf(text, scripts));
      return [language, Math.min(...all) > 0.9 ? "unread" : Math.max(...all) < 0.1 ? "read" : "mixed"];
    });
    const others = ["Russian", "Arabic", "Chinese", "Japanese"];
    const expected = Object.keys(languages).map((each) => [each, others.includes(each) ? "unread" : "read"]);
    expect(shares).toEqual(expected);
  });

  it.each([
    ["digits and signs", "12:30, 4.5 % — (7)", 0],
    ["nothing", "", 0],
    ["emoji", "🐈🚀", 1],
    ["a script that no list has", "ᚠᚢᚦ", 1],
    ["accents as letters of their own", "crème brûlée".normalize("NFD"), 0],
    ["half of each", "abж中", 0.5],
  ])("reads of %s all but its share", (_, text, share) => {
    expect(unreadShareOf(text, scripts)).toBe(share);
  });
});

it("takes a vocabulary of thousands of characters for one of that script, and bytes for none", () => {
  const characters = Array.from({ length: 1_000 }, (_, i) => String.fromCodePoint(0x4e00 + i));
  expect(scriptsIn(characters)).toEqual(["Han"]);
  expect(scriptsIn(characters.slice(1))).toEqual([]);
  const words = Array.from({ length: 100 }, (_, i) => `▁ж${String.fromCodePoint(0x430 + (i % 32))}`);
  expect(scriptsIn(words)).toEqual(["Cyrillic"]);
  expect(scriptsIn(words.map((word) => `Ġ${word}`))).toBeUndefined();
});

it("takes few milliseconds for the largest text", () => {
  const text = "日本".repeat(32_768 / 3);
  // The fastest of several: other tests share the cores.
  const took = Array.from({ length: 10 }, () => {
    const beganMs = performance.now();
    unreadShareOf(text, ["Latin"]);
    return performance.now() - beganMs;
  });
  expect(Math.min(...took)).toBeLessThan(20);
});
