import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inCodePoints, windowsOf } from "../../src/embedding/encode/windows.js";
import { shortestMs } from "../support/shortest-ms.js";

const PROSE = "Ana moved to Lisbon in May. She works from home! Does she like it? Mostly, yes.\n";
/** Makes limits as if each letter were a token. */
const limits = (size: number, overlap = true) => ({
  tokensMax: size,
  unitsMax: size,
  overlap,
  countTokens: (text: string) => text.length,
});
const cut = (text: string, size: number, overlap = true) =>
  windowsOf(text, limits(size, overlap)).map(({ start, end }) => text.slice(start, end));

/** Texts of chunks that are hard to cut: without spaces, of several code points, blank, very long. */
const hardText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 20 }),
      fc.constantFrom(
        PROSE,
        "今天天气很好。",
        "👩‍👩‍👧‍👦",
        "e\u0301",
        "One.Two.Three.",
        "   ",
        "\n\n",
        "🇩🇪🇫🇷",
        "สวัสดีครับ",
      ),
      fc.nat(200).map((length) => "x".repeat(length)),
    ),
    { minLength: 1, maxLength: 60 },
  )
  .map((chunks) => chunks.join(""))
  .filter((text) => text.trim() !== "");

describe("windows", () => {
  it("cover all of a text but what is blank, in order, and are as long as asked at most", () => {
    fc.assert(
      fc.property(hardText, fc.integer({ min: 8, max: 300 }), fc.boolean(), (text, size, overlap) => {
        const windows = windowsOf(text, limits(size, overlap));
        let covered = 0;
        for (const [i, { start, end }] of windows.entries()) {
          expect(end - start).toBeGreaterThan(0);
          expect(end - start).toBeLessThanOrEqual(size);
          expect(text.slice(covered, Math.max(covered, start)).trim()).toBe("");
          const before = windows[i - 1];
          if (before) {
            expect(start).toBeGreaterThan(before.start);
            expect(end).toBeGreaterThan(before.end);
            // The last window may repeat more, so that it is not tiny.
            const isLast = i === windows.length - 1;
            expect(before.end - start).toBeLessThanOrEqual(isLast ? size : overlap ? size / 4 : 0);
          }
          covered = end;
        }
        expect(text.slice(covered).trim()).toBe("");
      }),
      { numRuns: 500 },
    );
  });

  it("never cut a code point, nor a grapheme that fits", () => {
    fc.assert(
      fc.property(hardText, fc.integer({ min: 64, max: 300 }), (text, size) => {
        const graphemes = [...new Intl.Segmenter("und").segment(text)].map(({ index }) => index);
        const borders = new Set([...graphemes, text.length]);
        for (const { start, end } of windowsOf(text, limits(size))) {
          expect(borders.has(start)).toBe(true);
          expect(borders.has(end)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("are cut between sentences where these are short, and each sentence is whole in one", () => {
    const text = PROSE.repeat(10);
    const windows = cut(text, 200);
    for (const window of windows) expect(window).toMatch(/^(Ana|She|Does|Mostly)/);
    for (const sentence of PROSE.trim().split(/(?<=[.!?]) /)) {
      expect(windows.some((window) => window.includes(sentence))).toBe(true);
    }
  });

  it("are cut between words where a sentence is long, and between code points where a grapheme is", () => {
    const words = "alpha beta gamma delta ".repeat(30).trim();
    for (const window of cut(words, 100))
      expect(window.trim()).toMatch(/^(alpha|beta|gamma|delta)\b.*\b(alpha|beta|gamma|delta)$/);
    const accents = `a${"\u0301".repeat(500)}`;
    const parts = windowsOf(accents, limits(100, false));
    const ends = parts.map(({ end }) => end);
    expect(parts.map(({ start }) => start).slice(0, -1)).toEqual([0, ...ends.slice(0, -2)]);
    expect(ends.at(-1)).toBe(accents.length);
    const flags = "🇩🇪".repeat(100);
    for (const window of cut(flags, 50)) expect(window.replaceAll("🇩🇪", "")).toBe("");
  });

  it("are cut between the same sentences wherever in a long text these are", () => {
    const sentence = "We took No. 5 of 9 boxes home. ";
    for (let shift = 1; shift <= sentence.length; shift++) {
      const text = `${"x".repeat(shift)}. ${sentence.repeat(200)}`;
      for (const window of cut(text, 100, false).slice(1)) expect(window).toMatch(/^We took/);
    }
  });

  it("leave out what is blank", () => {
    expect(cut(`start${" ".repeat(1000)}end`, 100).every((window) => window.trim() !== "")).toBe(true);
  });

  it.each([true, false])("have no tiny remainder at the end (overlap %s)", (overlap) => {
    for (let sentences = 4; sentences < 40; sentences++) {
      const text = `${"The lake is deep and cold in the month of May. ".repeat(sentences)}So it is.`;
      const windows = cut(text, 100, overlap);
      expect(windows.at(-1)).toMatch(/So it is\.$/);
      for (const window of windows) expect(window.length).toBeGreaterThanOrEqual(25);
      for (const window of windows) expect(window.length).toBeLessThanOrEqual(100);
    }
  });

  it("of a text whose end is long enough are as they were: each repeats a quarter at most", () => {
    const text = `${"alpha beta gamma. ".repeat(20)}`.trim();
    const windows = windowsOf(text, limits(100));
    const shared = windows.slice(1).map(({ start }, i) => (windows[i] as { end: number }).end - start);
    expect(Math.max(...shared)).toBeLessThanOrEqual(25);
  });

  it.each(["\n", "?A", "é?A"])("of %j repeated take time in proportion to their length", (chunk) => {
    const msOf = (chunks: number) => {
      const text = chunk.repeat(chunks);
      const begunMs = performance.now();
      windowsOf(text, limits(230));
      return performance.now() - begunMs;
    };
    const shortest = { long: Number.POSITIVE_INFINITY, short: Number.POSITIVE_INFINITY };
    // Other processes may hold the machine, so the shortest time of each counts, in turns. A time that
    // grows by the square of the length is 64 times as long however often it is measured.
    const isLinear = () => shortest.long < 24 * shortest.short;
    for (let round = 0; round < 3 || (round < 20 && !isLinear()); round++) {
      shortest.long = Math.min(shortest.long, msOf(32_768));
      shortest.short = Math.min(shortest.short, msOf(4096));
    }
    expect(shortest.long).toBeLessThan(24 * shortest.short);
  });

  it("of the longest texts are made within half a second", () => {
    const texts = ["x", "!", "a ", "😀", "字", "a\u0301", "One.", "สวัสดี"].map((chunk) =>
      chunk.repeat(65_536 / Buffer.byteLength(chunk)),
    );
    for (const text of texts) {
      const cutAll = () => expect(windowsOf(text, limits(230)).length).toBeLessThan(500);
      expect(shortestMs(cutAll, 500)).toBeLessThan(500);
    }
  });
});

it("positions are counted in code points, in whatever order they are asked for", () => {
  const text = "a😀b👩‍👩‍👧‍👦c";
  const positions = [text.length, 0, 1, 3, 4];
  const counts = inCodePoints(text, positions);
  expect(positions.map((position) => counts.get(position))).toEqual([[...text].length, 0, 1, 2, 3]);
});
