import { describe, expect, test } from "vitest";
import { findWords } from "../../../src/index/words/find.js";
import { scoreWords } from "../../../src/index/words/score.js";
import { type Among, shareOf, type WordsFound } from "../../../src/memory/ports/index.js";
import { type Chance, chanceOf } from "../../support/chance.js";
import { QUICK, quickly } from "../../support/quick.js";
import { HOSTILE_QUERIES } from "./hostile.js";
import { Model } from "./model.js";
import { run } from "./run.js";
import { merged, stepped, TestSegment, type TextRow } from "./segments.js";
import { textOf } from "./texts.js";

const rowsOf = (texts: readonly string[]): TextRow[] => texts.map((text, i) => ({ sequence: i + 1, text }));
const filled = (...texts: readonly string[]) => [TestSegment.build(rowsOf(texts))];

const ANA = filled(
  "Ana is allergic to peanuts.",
  "The meeting was moved to Friday.",
  "Ana moved to Berlin in 2021.",
);

/** Some memories by ascending log numbers. */
function amongOf(sequences: readonly number[]): Among {
  const between = (first: number, last: number) => sequences.filter((each) => each >= first && each <= last);
  return {
    size: sequences.length,
    has: (sequence) => sequences.includes(sequence),
    countBetween: (first, last) => between(first, last).length,
    between: (first, last) => Float64Array.from(between(first, last)),
  };
}

const found = (segments: readonly TestSegment[], text: string, limit = 10): WordsFound =>
  run(findWords(segments, { text, limit }));

describe("the words of a namespace", () => {
  quickly("a search answers the measured numbers", () => {
    const { query, matches } = found(ANA, "What is Ana allergic to?");
    expect(query.ideal).toBeCloseTo(1.45083, 5);
    expect(matches.map(({ sequence }) => sequence)).toEqual([1, 3]);
    const all = run(scoreWords(ANA, query, [3, 1, 2, 3]));
    expect(all.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    const [first, second, third] = all.map(({ score }) => score);
    expect(first).toBeCloseTo(1.50427, 5);
    expect(second).toBe(0);
    expect(third).toBeCloseTo(0.43882, 5);
    const shares = all.map((each) => shareOf(each, query));
    expect(shares[0]).toBeCloseTo(0.23319, 5);
    expect(shares[1]).toBe(0);
    expect(shares[2]).toBeCloseTo(0.06803, 5);
    expect(all.map(({ words }) => words)).toEqual([["ana", "allergic"], [], ["ana"]]);
  });

  quickly("unknown words count in what a memory could have", () => {
    const ideal = (text: string) => found(ANA, text).query.ideal;
    expect(ideal("Ana zebra")).toBeGreaterThan(ideal("Ana"));
    expect(ideal("Ana Ana")).toBe(2 * ideal("Ana"));
  });

  quickly("an unknown identifier takes nothing away", () => {
    expect(found(ANA, "some_name").query.ideal).toBe(found(ANA, "name").query.ideal);
  });

  quickly("without segments, without rows and without words nothing is found", () => {
    for (const segments of [[], filled(), filled("🎉", "…")]) {
      const { query, matches } = found(segments, "Ana");
      expect(matches).toEqual([]);
      expect(query.ideal).toBeGreaterThan(0);
      const hits = segments[0]?.living ? [{ sequence: 1, score: 0, words: [] }] : [];
      expect(run(scoreWords(segments, query, [1, 7]))).toEqual(hits);
    }
  });

  quickly("equal memories come in the order of the log, and no more than asked for", () => {
    const rows = rowsOf(Array.from({ length: 100 }, () => "the same words"));
    const isOld = ({ sequence }: TextRow) => sequence % 3 > 0;
    const segments = [rows.filter((row) => !isOld(row)), rows.filter(isOld)].map(TestSegment.build);
    for (const limit of [0, 1, 7, 100, 1000]) {
      const expected = Array.from({ length: Math.min(limit, 100) }, (_, i) => i + 1);
      expect(found(segments, "words", limit).matches.map(({ sequence }) => sequence)).toEqual(expected);
    }
  });

  quickly("log numbers may be far apart", () => {
    const segments = [4_000_000_000, 7_000_000_000, 9_000_000_000_000].map((sequence) =>
      TestSegment.build([{ sequence, text: `number ${sequence}` }]),
    );
    expect(found(segments, "number").matches.map(({ sequence }) => sequence)).toEqual([
      4_000_000_000, 7_000_000_000, 9_000_000_000_000,
    ]);
  });

  quickly("scores by an earlier search compare, whatever was stored and removed meanwhile", () => {
    const rows = rowsOf(["Ana is in Rome", "Bo is in Berlin", "Ana moved to Berlin"]);
    const segments = rows.map((row) => TestSegment.build([row]));
    const { query, matches } = found(segments, "Ana in Berlin");
    segments[1]?.remove(2);
    const now = [...segments, TestSegment.build([{ sequence: 9, text: "Ana likes Berlin" }])];
    const again = run(scoreWords(now, query, [1, 2, 3]));
    const expected = matches.filter(({ sequence }) => sequence !== 2).sort((a, b) => a.sequence - b.sequence);
    expect(again.map(({ sequence, score }) => ({ sequence, score }))).toEqual(expected);
  });
});

/** Compares a search, one among some memories, and the scores of some by themselves with the plain model. */
function compare(
  segments: readonly TestSegment[],
  model: Model,
  asked: { text: string; limit: number },
): void {
  const { ideal, matches: all } = model.search({ ...asked, limit: Number.POSITIVE_INFINITY });
  const expected = all.slice(0, asked.limit);
  const { query, matches } = run(findWords(segments, asked));
  expect(query.ideal).toBe(ideal);
  expect(matches).toEqual(expected);
  const allowed = [...model.texts.keys()].filter((each) => each % 3 !== 0);
  // One of them is unknown.
  const among = amongOf([...allowed, 1_000_000_000]);
  const some = run(findWords(segments, { ...asked, among }));
  expect(some.matches).toEqual(all.filter(({ sequence }) => sequence % 3 !== 0).slice(0, asked.limit));
  const none = run(findWords(segments, { ...asked, among: amongOf([]) }));
  expect(none).toEqual({ query, matches: [] });
  const sequences = expected.map(({ sequence }) => sequence);
  const scored = run(scoreWords(segments, query, [...sequences, 1_000_000_000]));
  const byNumber = expected.toSorted((a, b) => a.sequence - b.sequence);
  expect(scored.map(({ sequence, score }) => ({ sequence, score }))).toEqual(byNumber);
}

/** Merges some neighbours of the segments. */
function mergeSome(segments: readonly TestSegment[], { below }: Chance): TestSegment[] {
  const from = below(segments.length + 1);
  const taken = segments.slice(from, from + below(segments.length + 1));
  return taken.length === 0 ? [...segments] : segments.toSpliced(from, taken.length, merged(taken));
}

/** Seeds of the sequences: the others go on behind those of the quick tests. */
const [FIRST, LAST] = QUICK ? [1, 1_000] : [1_001, 8_000];

describe("whatever is stored, merged, removed and asked", () => {
  test(`order and scores are those of a plain model: ${LAST - FIRST + 1} sequences`, {
    timeout: 120_000,
  }, () => {
    for (let seed = FIRST; seed <= LAST; seed++) {
      const chance = chanceOf(seed);
      const { next, below } = chance;
      const model = new Model();
      let segments: TestSegment[] = [];
      const vocabulary = 3 + below(60);
      let last = 0;
      for (let step = 0; step < 14; step++) {
        const what = next();
        if (what < 0.4) {
          const rows = Array.from({ length: below(5) }, () => {
            last += 1 + below(3);
            return { sequence: last, text: textOf(next, { words: below(30), vocabulary }) };
          });
          segments.push(TestSegment.build(rows));
          model.add(rows);
        } else if (what < 0.55) {
          segments = mergeSome(segments, chance);
        } else if (what < 0.7) {
          const sequences = [below(last + 2), below(last + 2)];
          for (const each of segments) for (const sequence of sequences) each.remove(sequence);
          model.remove(sequences);
        } else {
          const text = textOf(next, { words: below(8), vocabulary: vocabulary + 5 });
          compare(segments, model, { text, limit: 1 + below(8) });
        }
      }
      expect(segments.reduce((sum, { living }) => sum + living, 0)).toBe(model.texts.size);
    }
  });

  quickly("many rows take several ranges", () => {
    const { next } = chanceOf(7);
    const model = new Model();
    const rows = Array.from({ length: 50_000 }, (_, i) => ({
      sequence: i * 2 + 1,
      text: textOf(next, { words: 2 + Math.floor(next() * 3), vocabulary: 20_000 }),
    }));
    model.add(rows);
    const segments = [rows.slice(0, 10), rows.slice(10, 45_000), rows.slice(45_000)].map(TestSegment.build);
    const ask = () => {
      for (let i = 0; i < 3; i++) {
        compare(segments, model, { text: textOf(next, { words: 6, vocabulary: 20_000 }), limit: 50 });
      }
    };
    ask();
    const gone = [...model.texts.keys()].filter(() => next() < 0.05);
    for (const each of segments) for (const sequence of gone) each.remove(sequence);
    model.remove(gone);
    ask();
  });
});

describe("rows that are removed while others are looked for", () => {
  const made = () => {
    const { next } = chanceOf(5);
    const rows = Array.from({ length: 9_000 }, (_, i) => ({
      sequence: i + 1,
      text: textOf(next, { words: 30, vocabulary: 50 }),
    }));
    const parts = [rows.slice(0, 40), rows.slice(40, 8_000), rows.slice(8_000)];
    return { rows, segments: parts.map(TestSegment.build) };
  };
  const text = Array.from({ length: 30 }, (_, i) => `w${i}`).join(" ");

  quickly("are not found, and change nothing about the others", () => {
    for (let seed = 1; seed <= 5; seed++) {
      const { pick } = chanceOf(seed);
      const { rows, segments } = made();
      const before = found(segments, text, rows.length);
      const gone = new Set<number>();
      let yields = 0;
      const { query, matches } = stepped(findWords(segments, { text, limit: 300 }), () => {
        yields++;
        // Those that were found before are looked for, and the words' lists shift where they are read.
        const some = [pick(before.matches.slice(0, 300)).sequence, pick(rows).sequence, 1 + yields];
        for (const each of segments) for (const sequence of some) each.remove(sequence);
        for (const sequence of some) gone.add(sequence);
      });
      expect(yields).toBeGreaterThan(10);
      // They were removed after the query was weighed, but for those of the first steps.
      expect(query.words.length).toBe(before.query.words.length);
      const all = run(
        scoreWords(
          segments,
          query,
          [...rows.keys()].map((i) => i + 1),
        ),
      );
      const ordered = all
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score || a.sequence - b.sequence);
      expect(matches.some(({ sequence }) => gone.has(sequence))).toBe(false);
      expect(matches.length).toBeGreaterThan(300 - gone.size);
      expect(matches).toEqual(
        ordered.slice(0, matches.length).map(({ sequence, score }) => ({ sequence, score })),
      );
    }
  });

  quickly("are not scored", () => {
    const { segments } = made();
    const { query, matches } = found(segments, text, 500);
    const sequences = matches.map(({ sequence }) => sequence);
    const gone: number[] = [];
    const scored = stepped(scoreWords(segments, query, sequences), () => {
      const sequence = sequences[gone.length * 7] as number;
      gone.push(sequence);
      for (const each of segments) each.remove(sequence);
    });
    expect(gone.length).toBeGreaterThan(2);
    const expected = matches.filter(({ sequence }) => !gone.includes(sequence));
    expect(scored.map(({ sequence, score }) => ({ sequence, score }))).toEqual(
      expected.sort((a, b) => a.sequence - b.sequence),
    );
  });
});

describe("a query of 64 KiB", () => {
  const { next } = chanceOf(5);
  const rows = Array.from({ length: 5000 }, (_, i) => ({
    sequence: i + 1,
    text: textOf(next, { words: 20, vocabulary: 10_000 }),
  }));
  const segments = [0, 1, 2, 3, 4].map((i) => TestSegment.build(rows.slice(i * 1000, (i + 1) * 1000)));

  quickly.each(Object.entries(HOSTILE_QUERIES))("%s lets other work run, and is answered", (_name, text) => {
    let shortestMs = Number.POSITIVE_INFINITY;
    // Collecting garbage or another process may come into a step, but hardly every time.
    for (let i = 0; i < 20 && shortestMs >= 50; i++) {
      const waits: number[] = [];
      const { query, matches } = run(findWords(segments, { text, limit: 50 }), (ms) => waits.push(ms));
      expect(matches.length).toBe(query.words.length > 0 ? 50 : 0);
      shortestMs = Math.min(shortestMs, Math.max(...waits));
    }
    // The longest step is one of reading the query's words: 6 ms.
    expect(shortestMs).toBeLessThan(50);
  });
});
