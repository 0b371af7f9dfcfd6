import { describe, expect, test } from "vitest";
import { isRemoved, noteIn, rowIn } from "../../../src/index/rows/inverted.js";
import { WordPart } from "../../../src/index/words/part.js";
import { hashOf, rowWordsOf } from "../../../src/index/words/row-words.js";
import { chanceOf } from "../../support/chance.js";
import { straysIn } from "../postings.js";
import { merged, TestSegment } from "./segments.js";
import { textOf } from "./texts.js";

function rowsOf(seed: number, { count = 40, vocabulary = 200 } = {}) {
  const { next: chance, below } = chanceOf(seed);
  return Array.from({ length: count }, (_, i) => ({
    sequence: 2 * i + 1,
    text: textOf(chance, { words: below(12), vocabulary }),
  }));
}

/** Lists the words of a part with the rows of each, their weights, and each row's words. */
function contentsOf({ arrays }: WordPart) {
  const { hashes, offsets, counts, postings, forwardOffsets, forward, lengths } = arrays;
  const rows = lengths.length;
  const living = [...counts.keys()].filter((word) => counts[word] !== 0);
  const hash = (word: number) => hashes[word];
  const words = living.map((word) => {
    const [from, to] = [offsets[word] as number, offsets[word + 1] as number];
    const having = [...postings.subarray(from, to)].filter((posting) => !isRemoved(posting));
    expect(having.length).toBe(counts[word]);
    return { hash: hash(word), rows: having.map(rowIn), weights: having.map(noteIn) };
  });
  const forwards = Array.from({ length: rows }, (_, row) =>
    [...forward.subarray(forwardOffsets[row], forwardOffsets[row + 1])].map(hash),
  );
  return { words, forwards, lengths: [...lengths] };
}

/** Numbers of the places of each array in which a part has anything. */
function tracesOf({ arrays }: WordPart) {
  const { counts, lengths } = arrays;
  const hashes = new Set(arrays.hashes);
  hashes.delete(0);
  const sum = (array: Iterable<number>) => [...array].reduce((all, each) => all + each, 0);
  return {
    hashes: [...hashes].sort(),
    counts: sum(counts),
    lengths: sum(lengths),
  };
}

/** Expects that the places of removed rows name no row but one that has the word. */
function expectOverwritten({ arrays }: WordPart): void {
  expect(straysIn(arrays)).toEqual([]);
}

function expectSorted({ arrays: { hashes } }: WordPart): void {
  expect([...hashes]).toEqual([...hashes].toSorted((a, b) => a - b));
}

/** Expects that a look-up finds each living word, whatever dead ones have its hash. */
function expectFound(part: WordPart): void {
  const { hashes, counts } = part.arrays;
  const living = [...counts.keys()].filter((word) => counts[word] !== 0);
  const found = living.map((word) => part.find(hashes[word] as number));
  expect(found).toEqual(living);
}

describe("the words of a row", () => {
  test("they are sorted by their hashes, each once, with their weights", () => {
    const { lengths, hashes, postings } = rowWordsOf("Dogs chase the dog, and get_dog barks");
    expect(lengths).toEqual(Uint16Array.of(6));
    expect([...hashes]).toEqual([...new Set(hashes)].sort((a, b) => a - b));
    const at = hashes.indexOf(hashOf("dog"));
    expect(noteIn(postings[at] as number)).toBe(2);
  });

  test("a text without words has none", () => {
    const { hashes, lengths } = rowWordsOf("…");
    expect([hashes, lengths]).toEqual([new Float64Array(), Uint16Array.of(0)]);
  });
});

describe("a part of words", () => {
  test("its arrays are all that it is", () => {
    const { words } = TestSegment.build(rowsOf(1));
    const again = new WordPart(words.arrays);
    expect(again).toEqual(words);
    expect(again.lengthSum).toBeGreaterThan(0);
    const bytes = Object.values(words.arrays).reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(words.bytes - bytes).toBe(WordPart.build([]).bytes - 8);
  });

  test("a removed row leaves nothing but the number of its words", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { below, pick } = chanceOf(seed);
      const rows = rowsOf(seed, { vocabulary: 3 + below(300) });
      const segment = TestSegment.build(rows);
      const texts = rows.map(({ text }) => text);
      for (let i = 0; i < rows.length; i++) {
        const { sequence } = pick(rows);
        segment.remove(sequence);
        texts[(sequence - 1) / 2] = "";
        const without = WordPart.build(texts.map(rowWordsOf));
        expect(tracesOf(segment.words)).toEqual(tracesOf(without));
        expect(segment.words.lengthSum).toBe(without.lengthSum);
        const { words, forwards } = contentsOf(segment.words);
        const expected = contentsOf(without);
        expect(words).toEqual(expected.words);
        const living = (_: unknown, row: number) => segment.live.has(row);
        expect(forwards.filter(living)).toEqual(expected.forwards.filter(living));
        const { forward, forwardOffsets } = segment.words.arrays;
        const [from, to] = [(sequence - 1) / 2, (sequence + 1) / 2].map((row) => forwardOffsets[row]);
        expect(forward.subarray(from, to).every((word) => word === 0)).toBe(true);
        expectOverwritten(segment.words);
        expectSorted(segment.words);
        expectFound(segment.words);
      }
    }
  });

  test("no look-up finds a word that no row has any more", () => {
    const rows = rowsOf(3);
    const segment = TestSegment.build(rows);
    for (const { sequence, text } of rows) {
      segment.remove(sequence);
      const rest = rows.filter((each) => each.sequence > sequence).map((each) => each.text);
      const left = new Set(rest.flatMap((each) => each.split(" ")));
      for (const word of text.split(" ").filter((each) => /^w\d+$/.test(each) && !left.has(each))) {
        expect(segment.words.find(hashOf(word))).toBe(-1);
      }
    }
    expect(tracesOf(segment.words)).toEqual({ hashes: [], counts: 0, lengths: 0 });
    expectOverwritten(segment.words);
    expect(segment.words.lengthSum).toBe(0);
  });

  test("removal tells each range that it overwrites", () => {
    const rows = rowsOf(4);
    const segment = TestSegment.build(rows);
    const copies = new Map(Object.values(segment.words.arrays).map((array) => [array, array.slice()]));
    for (const { sequence } of rows) {
      for (const { array, from, to } of segment.remove(sequence)) {
        copies.get(array as never)?.set(array.subarray(from, to) as never, from);
      }
      for (const [array, copy] of copies) expect(copy).toEqual(array);
    }
  });

  test("removing a row again changes nothing", () => {
    const segment = TestSegment.build(rowsOf(5));
    segment.remove(7);
    const before = structuredClone(segment.words.arrays);
    segment.words.remove(3, () => {});
    expect(segment.words.arrays).toEqual(before);
  });
});

describe("merged parts", () => {
  test("they are what a part built from all living rows is", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { below, next: chance } = chanceOf(seed);
      const rows = rowsOf(seed, { vocabulary: 3 + below(300) });
      const count = 1 + below(6);
      const partOf = rows.map((_, i) => Math.floor((i * count) / rows.length));
      const segments = Array.from({ length: count }, (_, part) =>
        TestSegment.build(rows.filter((_row, i) => partOf[i] === part)),
      );
      const gone = new Set(rows.map(({ sequence }) => sequence).filter(() => chance() < 0.3));
      for (const each of segments) for (const sequence of gone) each.remove(sequence);
      const segment = merged(segments);
      expect(segment.words).toEqual(
        TestSegment.build(rows.filter(({ sequence }) => !gone.has(sequence))).words,
      );
    }
  });

  test("of parts without rows, none is left", () => {
    expect(merged([TestSegment.build([]), TestSegment.build([])]).words).toEqual(WordPart.build([]));
  });

  test("rows may be removed while they are merged", () => {
    const { next: chance, pick } = chanceOf(9);
    const rows = Array.from({ length: 9000 }, (_, i) => ({
      sequence: i + 1,
      text: textOf(chance, { words: 10, vocabulary: 20_000 }),
    }));
    const segments = [rows.slice(0, 5000), rows.slice(5000, 8000), rows.slice(8000)].map(TestSegment.build);
    const gone = new Set<number>();
    let yields = 0;
    const segment = merged(segments, () => {
      yields++;
      for (let i = 0; i < 40; i++) {
        const { sequence } = pick(rows);
        gone.add(sequence);
        for (const each of segments) each.remove(sequence);
      }
    });
    expect(yields).toBeGreaterThan(10);
    const living = rows.filter(({ sequence }) => !gone.has(sequence));
    const cleaned = merged([segment]);
    expect(cleaned.words).toEqual(TestSegment.build(living).words);
    expectSorted(segment.words);
    expect(segment.words.lengthSum).toBe(cleaned.words.lengthSum);
    expect(tracesOf(segment.words).hashes).toEqual(tracesOf(cleaned.words).hashes);
  });
});
