import { describe, expect, test } from "vitest";
import { TEXT_CHARS_MAX } from "../../src/words/text/normalize.js";
import { wordsIn } from "../../src/words/text/words-in.js";
import { run, wordsOf } from "./run.js";

describe("the words of a text", () => {
  test.each<[text: string, words: string[]]>([
    ["Ana is allergic to peanuts.", ["ana", "allerg", "peanut"]],
    ["The dogs, the DOG and Dog's", ["dog*3"]],
    ["I don't, you didn’t, we've", []],
    ["Ana moved to Berlin in 2021.", ["ana", "move", "berlin", "2021"]],
    ["", []],
    ["!? … — 🎉🎉", []],
  ])("%j", (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  test("accents are taken off Latin letters only", () => {
    expect(wordsOf("Café CAFE\u0301 naïve Ångström")).toEqual(["cafe*2", "naiv", "angstrom"]);
    expect(wordsOf("йод иод")).toEqual(["йод", "иод"]);
    expect(wordsOf("हिन्दी")).toEqual(["हिन्दी"]);
  });

  test("compatible forms are one word", () => {
    expect(wordsOf("ﬁle ｆｉｌｅ file")).toEqual(["file*3"]);
    expect(wordsOf("x² x2")).toEqual(["x2*2"]);
    expect(wordsOf("ｶﾞｽ")).toEqual(wordsOf("ガス"));
  });

  test("scripts without spaces give pairs of letters", () => {
    expect(wordsOf("東京都に")).toEqual(["東京", "京都", "都に"]);
    expect(wordsOf("猫")).toEqual(["猫"]);
    expect(wordsOf("iPhoneを買う", "query")).toEqual(["iphon", "を買", "買う"]);
    expect(wordsOf("ラーメン")).toEqual(["ラー", "ーメ", "メン"]);
    expect(wordsOf("𠮷野家")).toEqual(["𠮷野", "野家"]);
    expect(wordsOf("กำ")).toHaveLength(2);
  });

  test("other scripts keep their words, whatever their direction", () => {
    expect(wordsOf("שלום עולם")).toEqual(["שלום", "עולם"]);
    expect(wordsOf("مَرحبا بالعالم")).toEqual(["مَرحبا", "بالعالم"]);
    expect(wordsOf("Ελλάδα")).toEqual(["ελλάδα"]);
  });
});

describe("identifiers", () => {
  test.each<[text: string, words: string[]]>([
    ["getUserName", ["getusernam", "[get]", "[user]", "[name]"]],
    ["parseHTTPResponse", ["parsehttprespons", "[pars]", "[http]", "[respons]"]],
    ["max_batch_size", ["max", "batch", "size", "[max_batch_size]"]],
    ["src/memory/log.ts", ["src", "memori", "log", "ts", "[src/memory/log.ts]"]],
    ["v1.2.10", ["v1", "2", "10", "[v1.2.10]"]],
    ["2023-05-07", ["2023", "05", "07", "[2023-05-07]"]],
    ["--dry-run", ["dry", "run", "[dry-run]"]],
    ["std::vector", ["std", "vector", "[std::vector]"]],
    ["ana@example.org", ["ana", "exampl", "org", "[ana@example.org]"]],
    ["10ms", ["10m", "[10]", "[ms]"]],
  ])("%s is found as a whole and by its parts", (text, words) => {
    expect(wordsOf(text).toSorted()).toEqual(words.toSorted());
  });

  test.each(["well-known", "and/or", "the end.Next one", "e.g. this", "Ana: hello", "a - b"])(
    "%s is prose",
    (text) => {
      expect(wordsOf(text).filter((word) => word.startsWith("["))).toEqual([]);
    },
  );

  test("a query has them as a whole only", () => {
    expect(wordsOf("getUserName 10ms", "query")).toEqual(["getusernam", "10m"]);
    expect(wordsOf("a_b", "query")).toEqual(["b", "[a_b]"]);
  });

  test("they add nothing to the length", () => {
    expect(run(wordsIn("max_batch_size getUserName", "memory")).length).toBe(4);
  });
});

const KIB_64 = 65_536;
const fill = (unit: string) => unit.repeat(Math.floor(KIB_64 / Buffer.byteLength(unit)));
const HOSTILE: Readonly<Record<string, string>> = {
  "one word": "a".repeat(KIB_64),
  "the same word": fill("word "),
  "different words": Array.from({ length: 10_000 }, (_, i) => `w${i}`).join(" "),
  "one long run of Han": fill("漢字"),
  emoji: fill("😀"),
  "right to left": fill("שלום "),
  "marks alone": `a${fill("\u0301\u0323")}`,
  "sorted marks": `a${"\u0301".repeat(16_000)}${"\u0323".repeat(16_000)}`,
  "half-width voicing signs": fill("\u0301\uff9e"),
  ligatures: fill("\ufdfa"),
  "lone surrogates": fill("\ud800"),
  joints: fill("a.b/c_d-"),
  "open joints": fill("a_"),
  "an identifier without end": fill("aB_"),
  humps: fill("aB"),
  capitals: `${"A".repeat(KIB_64 - 1)}a`,
  digits: fill("1a"),
  "single letters": fill("b c d "),
  nothing: " ".repeat(KIB_64),
};

describe("a text of 64 KiB", () => {
  test.each(Object.entries(HOSTILE))("%s takes little time, in slices", (_name, text) => {
    const longest: number[] = [];
    const whole: number[] = [];
    // A machine that does much else may interrupt a piece, but hardly every time.
    for (let i = 0; i < 5; i++) {
      const pieces: number[] = [];
      const { length } = run(wordsIn(text, "memory"), (ms) => pieces.push(ms));
      expect(length).toBeLessThanOrEqual(KIB_64);
      longest.push(Math.max(...pieces));
      whole.push(pieces.reduce((sum, ms) => sum + ms, 0));
    }
    // Measured: 5 ms and 32 ms at most. Work that grows with the square of a text takes over 500 ms.
    expect(Math.min(...longest)).toBeLessThan(100);
    expect(Math.min(...whole)).toBeLessThan(400);
  });

  test("nothing is left out but marks beyond the thirtieth, and what ligatures add beyond a bound", () => {
    const leftOut = (text: string) => run(wordsIn(text, "memory")).leftOut;
    const exceptions = ["marks alone", "sorted marks", "half-width voicing signs", "ligatures"];
    for (const [name, text] of Object.entries(HOSTILE)) {
      if (!exceptions.includes(name)) expect([name, leftOut(text)]).toEqual([name, 0]);
    }
    expect(leftOut(`a${"\u0301".repeat(50)} b`)).toBe(20);
    const ligatures = HOSTILE.ligatures ?? "";
    expect(leftOut(ligatures)).toBe(ligatures.normalize("NFKC").length - TEXT_CHARS_MAX);
  });
});
