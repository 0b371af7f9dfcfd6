import { describe, expect, test } from "vitest";
import { shareOf, type TextRow } from "../../src/memory/ports/words.js";
import { Guarded } from "../../src/words/guarded.js";
import { HOSTILE_QUERIES } from "../index/words/hostile.js";
import { Model } from "../index/words/model.js";
import { textOf } from "../index/words/texts.js";
import { chanceOf } from "../support/chance.js";

const turn = () => Promise.resolve();

async function filled(texts: readonly string[]): Promise<Guarded> {
  const index = new Guarded(turn);
  await index.add(texts.map((text, i) => ({ sequence: i + 1, text })));
  return index;
}

const ANA = [
  "Ana is allergic to peanuts.",
  "The meeting was moved to Friday.",
  "Ana moved to Berlin in 2021.",
] as const;

describe("the word index of a namespace", () => {
  test("it answers the measured numbers", async () => {
    const index = await filled(ANA);
    const { query, heard } = await index.search({ text: "What is Ana allergic to?", limit: 10 });
    expect(query.ideal).toBeCloseTo(1.45083, 5);
    expect(heard.map(({ sequence }) => sequence)).toEqual([1, 3]);
    const all = await index.score(query, [3, 1, 2]);
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

  test("unknown words count in what a memory could have", async () => {
    const index = await filled(ANA);
    const ideal = async (text: string) => (await index.search({ text, limit: 1 })).query.ideal;
    expect(await ideal("Ana zebra")).toBeGreaterThan(await ideal("Ana"));
    expect(await ideal("Ana Ana")).toBe(2 * (await ideal("Ana")));
  });

  test("an unknown identifier takes nothing away", async () => {
    const index = await filled(ANA);
    const { query } = await index.search({ text: "some_name", limit: 1 });
    const { query: asWords } = await index.search({ text: "name", limit: 1 });
    expect(query.ideal).toBe(asWords.ideal);
  });

  test("an empty index, and one of texts without words, answer nothing", async () => {
    for (const texts of [[], ["🎉", "…"]]) {
      const index = await filled(texts);
      const { query, heard } = await index.search({ text: "Ana", limit: 10 });
      expect(heard).toEqual([]);
      expect(query.ideal).toBeGreaterThan(0);
      expect(await index.score(query, [1, 7])).toEqual(
        texts.length > 0 ? [{ sequence: 1, score: 0, words: [] }] : [],
      );
    }
  });

  test("equal memories come in the order of the log, and no more than asked for", async () => {
    const index = await filled(Array.from({ length: 100 }, () => "the same words"));
    for (const limit of [0, 1, 7, 100, 1000]) {
      const { heard } = await index.search({ text: "words", limit });
      const expected = Array.from({ length: Math.min(limit, 100) }, (_, i) => i + 1);
      expect(heard.map(({ sequence }) => sequence)).toEqual(expected);
    }
  });

  test("log numbers may be far apart, and must grow", async () => {
    const index = new Guarded(turn);
    await index.add([{ sequence: 4_000_000_000, text: "first" }]);
    await index.add([{ sequence: 7_000_000_000, text: "second" }]);
    const { heard } = await index.search({ text: "second", limit: 1 });
    expect(heard[0]?.sequence).toBe(7_000_000_000);
    await expect(index.add([{ sequence: 7_000_000_000, text: "again" }])).rejects.toThrow("was added after");
  });
});

/** Compares both answers, and the scores of some memories by themselves. */
async function compare(index: Guarded, model: Model, asked: { text: string; limit: number }): Promise<void> {
  const { ideal, heard: all } = model.search({ ...asked, limit: Number.POSITIVE_INFINITY });
  const expected = { ideal, heard: all.slice(0, asked.limit) };
  const { query, heard } = await index.search(asked);
  expect(query.ideal).toBe(expected.ideal);
  expect(heard).toEqual(expected.heard);
  const sequences = expected.heard.map(({ sequence }) => sequence);
  // Of some memories only, one of them unknown: the same scores, and the next ones move up.
  const among = Float64Array.from([
    ...[...model.texts.keys()].filter((each) => each % 3 !== 0),
    1_000_000_000,
  ]);
  const some = await index.search({ ...asked, among });
  const allowed = new Set(among);
  expect(some.heard).toEqual(all.filter(({ sequence }) => allowed.has(sequence)).slice(0, asked.limit));
  const scored = await index.score(query, [...sequences, 1_000_000_000]);
  const byNumber = expected.heard.toSorted((a, b) => a.sequence - b.sequence);
  expect(scored.map(({ sequence, score }) => ({ sequence, score }))).toEqual(byNumber);
}

const SEQUENCES = process.env.QUICK === undefined ? 10_000 : 2_000;

describe("whatever is stored, deleted and asked", () => {
  test(`order and numbers are those of a plain model: ${SEQUENCES} sequences`, {
    timeout: 120_000,
  }, async () => {
    for (let seed = 1; seed <= SEQUENCES; seed++) {
      const { next: chance } = chanceOf(seed);
      const index = new Guarded(turn);
      const model = new Model();
      const vocabulary = 3 + Math.floor(chance() * 60);
      let last = 0;
      for (let step = 0; step < 12; step++) {
        const what = chance();
        if (what < 0.5) {
          const rows: TextRow[] = Array.from({ length: Math.floor(chance() * 4) }, () => {
            last += 1 + Math.floor(chance() * 3);
            const words = Math.floor(chance() * 30);
            return { sequence: last, text: textOf(chance, { words, vocabulary }) };
          });
          await index.add(rows);
          model.add(rows);
        } else if (what < 0.7) {
          const sequences = [Math.floor(chance() * (last + 2)), Math.floor(chance() * (last + 2))];
          await index.remove(sequences);
          model.remove(sequences);
        } else {
          const text = textOf(chance, { words: Math.floor(chance() * 8), vocabulary: vocabulary + 5 });
          await compare(index, model, { text, limit: 1 + Math.floor(chance() * 8) });
        }
      }
      expect(index.size).toBe(model.texts.size);
    }
  });

  test("many memories take many blocks and pages, and a copy leaves the deleted out", async () => {
    const { next: chance } = chanceOf(7);
    const index = new Guarded(turn);
    const model = new Model();
    const rows = Array.from({ length: 20_000 }, (_, i) => ({
      sequence: i * 2 + 1,
      text: textOf(chance, { words: 3 + Math.floor(chance() * 8), vocabulary: 20_000 }),
    }));
    await index.add(rows);
    model.add(rows);
    const ask = async () => {
      for (let i = 0; i < 5; i++) {
        await compare(index, model, { text: textOf(chance, { words: 6, vocabulary: 20_000 }), limit: 50 });
      }
    };
    await ask();
    const bytes = index.bytes;
    for (const share of [0.1, 0.5]) {
      const gone = [...model.texts.keys()].filter(() => chance() < share);
      await index.remove(gone);
      model.remove(gone);
      await ask();
    }
    expect(index.bytes).toBeLessThan(bytes * 0.7);
  });

  test("after deletes it answers as if they had never been stored", async () => {
    const { next: chance } = chanceOf(11);
    const texts = Array.from({ length: 500 }, () => textOf(chance, { words: 12, vocabulary: 300 }));
    const index = await filled(texts);
    const kept = texts.flatMap((text, i) => (chance() < 0.6 ? [{ sequence: i + 1, text }] : []));
    const numbers = new Set(kept.map(({ sequence }) => sequence));
    await index.remove(texts.map((_, i) => i + 1).filter((sequence) => !numbers.has(sequence)));
    const never = new Guarded(turn);
    await never.add(kept);
    for (let i = 0; i < 50; i++) {
      const asked = { text: textOf(chance, { words: 5, vocabulary: 320 }), limit: 20 };
      expect(await index.search(asked)).toEqual(await never.search(asked));
      expect(await index.sample()).toEqual(await never.sample());
    }
  });
});

describe("calls at the same time", () => {
  test("a search sees what was asked for before it, and nothing that was asked for later", async () => {
    const index = new Guarded(() => new Promise((resolve) => setImmediate(resolve)));
    const many = Array.from({ length: 2000 }, (_, i) => ({ sequence: i + 1, text: `word number ${i}` }));
    const limit = 5000;
    const adding = index.add(many);
    const before = index.search({ text: "word", limit });
    const removing = index.remove([1, 2, 3]);
    const after = index.search({ text: "word", limit });
    const adding2 = index.add([{ sequence: 2001, text: "word" }]);
    const last = index.search({ text: "word", limit });
    await Promise.all([adding, removing, adding2]);
    const counts = (await Promise.all([before, after, last])).map(({ heard }) => heard.length);
    expect(counts).toEqual([2000, 1997, 1998]);
    expect(index.waiting).toBe(0);
  });

  test("scores by an earlier search compare, whatever was stored meanwhile", async () => {
    const index = await filled(ANA);
    const { query, heard } = await index.search({ text: "Ana in Berlin", limit: 3 });
    await index.add([{ sequence: 9, text: "Ana likes Berlin" }]);
    await index.remove([2]);
    const again = await index.score(query, [1, 2, 3]);
    const scores = (hits: readonly { sequence: number; score: number }[]) =>
      new Map(hits.map(({ sequence, score }) => [sequence, score]));
    expect(scores(again)).toEqual(new Map([...scores(heard)].sort(([a], [b]) => a - b)));
  });
});

/** Time that this process has computed: what else the machine does takes none of it. */
function busyMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

describe("a query of 64 KiB", () => {
  test.each(Object.entries(HOSTILE_QUERIES))(
    "%s lets other work run, and is answered",
    async (_name, text) => {
      const { next: chance } = chanceOf(5);
      const waits: number[] = [];
      let sinceMs = busyMs();
      const index = new Guarded(async () => {
        waits.push(busyMs() - sinceMs);
        await new Promise((resolve) => setImmediate(resolve));
        sinceMs = busyMs();
      });
      const rows = Array.from({ length: 5000 }, (_, i) => ({
        sequence: i + 1,
        text: textOf(chance, { words: 20, vocabulary: 10_000 }),
      }));
      await index.add(rows);
      await index.remove([1, 2, 3]);
      const longest: number[] = [];
      // Collecting garbage may come into a piece, but hardly every time.
      for (let i = 0; i < 5; i++) {
        waits.length = 0;
        sinceMs = busyMs();
        const { query, heard } = await index.search({ text, limit: 50 });
        expect(heard.length).toBe(query.words.length > 0 ? 50 : 0);
        longest.push(Math.max(0, ...waits));
      }
      // Measured: 6 ms.
      expect(Math.min(...longest)).toBeLessThan(50);
    },
  );
});
