import { describe, expect, test } from "vitest";
import { figure, ratio } from "../../bench/compare/figures.js";
import { interleaved } from "../../bench/compare/interleaved.js";
import { run } from "../../bench/compare/load.js";
import { memory, question } from "../../bench/compare/memories.js";
import { shareFound } from "../../bench/compare/nearest.js";
import { readOptions } from "../../bench/compare/options.js";
import * as sentences from "../../bench/sentences.js";

describe("a run of calls", () => {
  test("makes each call once, in order, by as many callers as it has", async () => {
    const numbers: number[] = [];
    let running = 0;
    let most = 0;
    const call = async (number: number) => {
      numbers.push(number);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
    };
    const load = await run(call, { from: 7, count: 20, callers: 4, secondsMax: 10 });
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, i) => 7 + i));
    expect(most).toBe(4);
    expect(load.latenciesMs).toHaveLength(20);
  });

  test("ends when its time is up", async () => {
    const call = () => new Promise((resolve) => setTimeout(resolve, 5));
    const load = await run(call, { from: 0, count: 100_000, callers: 2, secondsMax: 0.05 });
    expect(load.latenciesMs.length).toBeGreaterThan(0);
    expect(load.latenciesMs.length).toBeLessThan(100);
  });

  test("fails with the first call that fails, and makes no more", async () => {
    let made = 0;
    const call = async (number: number) => {
      made++;
      if (number === 3) throw new Error("refused");
    };
    await expect(run(call, { from: 0, count: 100, callers: 1, secondsMax: 10 })).rejects.toThrow("refused");
    expect(made).toBe(4);
  });
});

describe("measuring in turns", () => {
  test("begins every round with another one", async () => {
    const order: string[] = [];
    const measured = await interleaved(["a", "b", "c"], 3, async (name, round) => {
      order.push(name);
      return `${name}${round}`;
    });
    expect(order.join("")).toBe("abcbcacab");
    expect(measured).toEqual({ a: ["a0", "a1", "a2"], b: ["b0", "b1", "b2"], c: ["c0", "c1", "c2"] });
  });

  test("ratios are taken round by round", () => {
    expect(ratio([2, 20, 6], [1, 10, 2])).toEqual({ median: 2, lowest: 2, highest: 3 });
    expect(figure([3.00049, 1, 2])).toEqual({ median: 2, lowest: 1, highest: 3 });
  });
});

test("memories and questions are all different", () => {
  const many = Array.from({ length: 200_000 }, (_, i) => i);
  expect(new Set(many.map(memory)).size).toBe(many.length);
  expect(new Set(many.map(question)).size).toBe(many.length);
  // The service remembers vectors of recent queries.
  expect(new Set(many.map(sentences.sentence)).size).toBe(many.length);
  expect(new Set(many.map(sentences.question)).size).toBe(many.length);
});

test("recall@10 counts the ten true nearest alone", () => {
  const texts = Array.from({ length: 16 }, (_, i) => `text ${i}`);
  // Each a little further from the first axis than the one before.
  const vectors = Float32Array.from(texts.flatMap((_, i) => [Math.cos(i / 10), Math.sin(i / 10)]));
  const corpus = { texts, questions: [], dimensions: 2, vectors, vectorsPath: "" };
  const queries = [Float32Array.from([1, 0])];
  const share = (found: string[]) => shareFound([found], { corpus, memories: 16, queries });
  expect(share(texts.slice(0, 10))).toBe(1);
  expect(share([...texts.slice(0, 9), "text 12"])).toBe(0.9);
  expect(share(texts.slice(0, 5))).toBe(0.5);
  expect(share([])).toBe(0);
});

describe("the options", () => {
  test("measure all of it by default, and only then write the page", () => {
    expect(readOptions([])).toMatchObject({ complete: true, sizes: [1000, 10_000, 50_000, 100_000] });
    expect(readOptions(["--quick"])).toMatchObject({ complete: false, sizes: [1000, 10_000] });
    expect(readOptions(["--rounds", "1", "--seconds", "0.5"])).toMatchObject({
      complete: false,
      rounds: 1,
      secondsMax: 0.5,
    });
    expect(readOptions(["--model", "Xenova/all-MiniLM-L6-v2"])).toMatchObject({ complete: false });
    expect(readOptions(["--systems", "chroma,recalld"])).toMatchObject({
      complete: false,
      systems: ["recalld", "chroma"],
    });
  });

  test.each([
    ["--systems", "recalld,qdrant", "qdrant"],
    ["--systems", "chroma", "recalld"],
    ["--sizes", "1000,many", "--sizes"],
    ["--rounds", "0", "--rounds"],
    ["--seconds", "none", "--seconds"],
  ])("%s %s is refused", (option, value, said) => {
    expect(() => readOptions([option, value])).toThrow(said);
  });
});
