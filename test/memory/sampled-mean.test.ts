import { describe, expect, test } from "vitest";
import { SampledMean } from "../../src/memory/search/sampled-mean.js";
import { chanceOf } from "../support/chance.js";

describe("the mean of a sample's vectors", () => {
  const { next } = chanceOf(3);
  const vectors = new Map<number, Float32Array[]>();
  for (let sequence = 1; sequence <= 300; sequence++) {
    const count = 1 + (sequence % 3);
    vectors.set(
      sequence,
      Array.from({ length: count }, () => Float32Array.from({ length: 8 }, () => next() - 0.5)),
    );
  }
  const query = Float32Array.from({ length: 8 }, () => next() - 0.5);
  let reads: number[] = [];
  const erased = new Set<number>();
  async function* read(sequences: readonly number[]) {
    reads.push(sequences.length);
    const left = sequences.filter((sequence) => !erased.has(sequence));
    yield* left.map((sequence) => ({ sequence, vectors: vectors.get(sequence) ?? [] }));
  }
  let version = 0;
  const meanOf = (mean: SampledMean, sample: readonly number[]) => mean.meanAt(++version, async () => sample);
  const follow = async (mean: SampledMean, sample: readonly number[]) =>
    (await meanOf(mean, sample))([query]);
  const fresh = (sample: readonly number[]) => follow(new SampledMean(read), sample);
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

  /** Computes the mean of the best cosines, one by one. */
  const plainMean = (sample: readonly number[]) => {
    const best = sample.map((sequence) => {
      const cosines = (vectors.get(sequence) ?? []).map((vector) =>
        vector.reduce((sum, each, i) => sum + each * (query[i] as number), 0),
      );
      return Math.max(...cosines);
    });
    return best.reduce((sum, each) => sum + each, 0) / sample.length;
  };

  test("it is the mean of the memories' cosines, each by its best window", async () => {
    expect(await fresh(numbers(1, 100))).toBeCloseTo(plainMean(numbers(1, 100)), 6);
    expect(await fresh([])).toBe(0);
  });

  test("of many memories with several windows, some tell how far the best window is above the others", async () => {
    const all = [...vectors.keys()];
    const mean = await fresh(all);
    expect(mean).not.toBeCloseTo(plainMean(all), 6);
    expect(Math.abs(mean - plainMean(all))).toBeLessThan(0.03);
  });

  test("of a memory with very many windows, some are compared", async () => {
    const windows = Array.from({ length: 1_025 }, () => Float32Array.from({ length: 8 }, () => next() - 0.5));
    async function* one() {
      yield { sequence: 1, vectors: windows };
    }
    const mean = new SampledMean(one);
    await meanOf(mean, [1]);
    expect(mean.bytes).toBeLessThan(64 * 8 * 4 + 1_000);
  });

  test("whatever came and left, it is that of the sample, exactly", async () => {
    const mean = new SampledMean(read);
    let before: number[] = [];
    for (const [from, to] of [
      [1, 100],
      [50, 200],
      [50, 200],
      [120, 130],
      [1, 300],
    ] as const) {
      reads = [];
      const now = numbers(from, to);
      const changed = now.filter((each) => !before.includes(each)).length;
      const left = before.filter((each) => !now.includes(each)).length;
      before = now;
      const cosine = await follow(mean, numbers(from, to));
      const compared = changed + left > 0 ? 128 : 0;
      expect(reads.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(changed + left + compared);
      expect(cosine).toBe(await fresh(numbers(from, to)));
    }
  });

  test("if a vector that left is erased, all others are read again", async () => {
    const mean = new SampledMean(read);
    const meanBefore = await meanOf(mean, numbers(1, 100));
    const cosineBefore = meanBefore([query]);
    erased.add(7);
    const rest = numbers(1, 100).filter((sequence) => sequence !== 7);
    expect(await follow(mean, rest)).toBe(await fresh(rest));
    // A memory that is erased already, though its tombstone was not read, has no part in it.
    expect(await follow(mean, numbers(1, 100))).toBe(await fresh(rest));
    // A mean that was handed out does not change.
    expect(meanBefore([query])).toBe(cosineBefore);
    erased.clear();
  });

  test("a failed read leaves it to the next call", async () => {
    async function* failing(sequences: readonly number[]) {
      if (sequences.length === 0) return;
      yield { sequence: 1, vectors: vectors.get(1) ?? [] };
      throw new Error("no database");
    }
    let isFailing = true;
    const mean = new SampledMean((sequences) => (isFailing ? failing(sequences) : read(sequences)));
    await expect(meanOf(mean, numbers(1, 100))).rejects.toThrow("no database");
    isFailing = false;
    expect(await follow(mean, numbers(1, 100))).toBe(await fresh(numbers(1, 100)));
  });
});
