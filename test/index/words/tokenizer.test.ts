import { describe, expect, test } from "vitest";
import { TEXT_CHARS_MAX } from "../../../src/index/words/normalize.js";
import { wordsIn } from "../../../src/index/words/words-in.js";
import { run, wordsOf } from "./run.js";

describe("the words of a text", () => {
  test.each<[text: string, words: string[]]>([
    ["Ana is allergic to peanuts.", ["ana", "allerg", "peanut"]],
    ["The dogs, the DOG and Dog's", ["dog*3"]],
    ["I don't, you didn’t, we've", []],
    ["Ana moved to Berlin in 2021.", ["ana", "move", "berlin", "2021"]],
    ["", []],
    ["!? … — ©", []],
  ])("%j", (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  test("accents and vowel signs are taken off where a word is written without them too", () => {
    expect(wordsOf("Café CAFE\u0301 naïve Ångström")).toEqual(["cafe*2", "naiv", "angstrom"]);
    expect(wordsOf("Ελλάδα ΕΛΛΑΔΑ")).toEqual(["ελλαδα*2"]);
    expect(wordsOf("مَرحبا مرحبا مرحـبا")).toEqual(["مرحبا*3"]);
    expect(wordsOf("שָׁלוֹם שלום")).toEqual(["שלום*2"]);
    expect(wordsOf("йод иод")).toEqual(["йод", "иод"]);
    expect(wordsOf("हिन्दी")).toEqual(["हिन्दी"]);
  });

  test.each<[text: string, query: string]>([
    ["Hauptstraße", "HAUPTSTRASSE"],
    ["HAUPTSTRAẞE", "hauptstraße"],
    ["Łódź", "lodz"],
    ["smørrebrød", "SMORREBROD"],
    ["Đà Nẵng", "da nang"],
    ["Ærø, œuvre", "aero oeuvre"],
    ["Þór, Borgarfjörður", "thor borgarfjordur"],
    ["Diyarbakır ISPARTA İzmir", "diyarbakir ısparta IZMIR"],
    ["Hawaiʻi", "hawaii"],
    ["ΟΔΟΣ", "οδός"],
    ["ёлка", "ЕЛКА"],
    ["أحمد كتاب", "احمد کتاب"],
    ["Donau\u00addampf\u00adschiff", "Donaudampfschiff"],
    ["zero\u200bwidth\ufeff", "zerowidth"],
    ["می‌خواهم", "میخواهم"],
    ["क्‍ष", "क्ष"],
    ["\u{845b}\u{e0100}\u{57ce}", "葛城"],
    ["Kindle™", "kindle"],
    ["서울".normalize("NFD"), "서울"],
    ["👍🏽 ❤️ 1️⃣", "👍 ❤ 1"],
    ["👩🏽‍💻", "👩💻"],
  ])("%s has the words of %s", (text, query) => {
    expect(wordsOf(text, "query")).toEqual(wordsOf(query, "query"));
  });

  test("compatible forms are one word", () => {
    expect(wordsOf("ﬁle ｆｉｌｅ file")).toEqual(["file*3"]);
    expect(wordsOf("x² x2")).toEqual(["x2*2"]);
    expect(wordsOf("ｶﾞｽ")).toEqual(wordsOf("ガス"));
  });

  test("scripts without spaces, and Korean, give pairs of letters", () => {
    expect(wordsOf("東京都に", "query")).toEqual(["東京", "京都", "都に"]);
    expect(wordsOf("猫", "query")).toEqual(["猫"]);
    expect(wordsOf("ラーメン", "query")).toEqual(["ラー", "ーメ", "メン"]);
    expect(wordsOf("𠮷野家", "query")).toEqual(["𠮷野", "野家"]);
    expect(wordsOf("서울에서 집", "query")).toEqual(["서울", "울에", "에서", "집"]);
    expect(wordsOf("กำ")).toHaveLength(2);
  });

  test("single ones are in a memory too, beside its length", () => {
    expect(wordsOf("私は猫").toSorted()).toEqual(["[は]", "[猫]", "[私]", "は猫", "私は"]);
    expect(run(wordsIn("私は猫", "memory")).length).toBe(2);
    expect(wordsOf("猫")).toEqual(["猫"]);
  });

  test("a word is of one script", () => {
    expect(wordsOf("iPhoneを買う", "query")).toEqual(["iphon", "を買", "買う"]);
    expect(wordsOf("Notion에 회의", "query")).toEqual(["notion", "에", "회의"]);
    expect(wordsOf("第12章 GPT4は", "query")).toEqual(["第", "12", "章", "gpt4", "は"]);
    expect(wordsOf("בGoogle Zoomом", "query")).toEqual(["ב", "googl", "zoom", "ом"]);
    expect(wordsOf("max_batch를", "query")).toContain("[max_batch]");
    expect(wordsOf("5кг 10μm", "query")).toEqual(["5кг", "10μm"]);
  });

  test("other scripts keep their words, whatever their direction", () => {
    expect(wordsOf("שלום עולם")).toEqual(["שלום", "עולם"]);
    expect(wordsOf("مرحبا بالعالم")).toEqual(["مرحبا", "بالعالم"]);
  });

  test("an emoji is a word, whatever its form and colour", () => {
    expect(wordsOf("plays🎸 🎸")).toEqual(["plai", "🎸*2"]);
    expect(wordsOf("🇩🇪🇫🇷")).toEqual(["🇩🇪", "🇫🇷"]);
    expect(wordsOf("🏴󠁧󠁢󠁷󠁬󠁳󠁿")).not.toEqual(wordsOf("🏴󠁧󠁢󠁳󠁣󠁴󠁿"));
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

  test.each<[text: string, words: string[]]>([
    ["the AT&T bill", ["[at&t]", "bill"]],
    ["AT&T/Verizon AT&T는", ["[at&t]", "verizon", "는"]],
    ["R&D", ["[r&d]", "r"]],
    ["C", ["c"]],
    ["C++ C++17", ["c++*2", "17"]],
    ["C#で F# F♯", ["c#", "で", "f#*2"]],
    ["Notepad++", ["[notepad++]", "notepad"]],
    [".NET, the .NET와", ["[.net]", "net*2", "와"]],
    ["one.Two ...three a+b x#y", ["on", "two", "three", "b", "x", "y"]],
  ])("the signs of a name belong to it: %s", (text, words) => {
    expect(wordsOf(text, "query").toSorted()).toEqual(words.toSorted());
  });

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
  "names with signs": fill(".a&b&c++ d#"),
  "one name of many": fill("a&"),
  "digits alone": `${"1".repeat(KIB_64 - 2)}é`,
  "zero-width signs": fill("\u200b"),
  "one long run of Hangul": fill("서울"),
  "open joints": fill("a_"),
  "an identifier without end": fill("aB_"),
  humps: fill("aB"),
  capitals: `${"A".repeat(KIB_64 - 1)}a`,
  digits: fill("1a"),
  "single letters": fill("b c d "),
  "words of two scripts with signs between them": fill("&aб"),
  nothing: " ".repeat(KIB_64),
};

describe("a text of 64 KiB", () => {
  test.each(Object.entries(HOSTILE))("%s takes little time, in slices", (_name, text) => {
    const longest: number[] = [];
    const whole: number[] = [];
    // A machine that does much else may interrupt a chunk, but hardly every time.
    for (let i = 0; i < 5; i++) {
      const chunks: number[] = [];
      const { length } = run(wordsIn(text, "memory"), (ms) => chunks.push(ms));
      expect(length).toBeLessThanOrEqual(KIB_64);
      longest.push(Math.max(...chunks));
      whole.push(chunks.reduce((sum, ms) => sum + ms, 0));
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
