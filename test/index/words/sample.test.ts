import { describe, expect, test } from "vitest";
import { SAMPLE_MAX, sampleOf } from "../../../src/index/words/sample.js";
import { chanceOf } from "../../support/chance.js";
import { run } from "./run.js";
import { merged, TestSegment } from "./segments.js";

const segmentOf = (sequences: readonly number[]) =>
  TestSegment.build(sequences.map((sequence) => ({ sequence, text: "" })));

describe("a sample of memories", () => {
  test("it depends on nothing but which memories live", () => {
    for (let seed = 1; seed <= 3; seed++) {
      const { below } = chanceOf(seed);
      let segments: TestSegment[] = [];
      const living = new Set<number>();
      let last = 0;
      for (let step = 0; step < 30; step++) {
        const added = Array.from({ length: below(300) }, () => {
          last += 1 + below(3);
          return last;
        });
        segments.push(segmentOf(added));
        for (const sequence of added) living.add(sequence);
        for (let i = below(100); i > 0; i--) {
          const gone = below(last + 1);
          for (const each of segments) each.remove(gone);
          living.delete(gone);
        }
        if (below(8) === 0) segments = [merged(segments)];
        const sample = run(sampleOf(segments));
        expect(sample).toEqual(run(sampleOf([segmentOf([...living])])));
        expect(sample).toHaveLength(Math.min(living.size, SAMPLE_MAX));
        expect(sample.every((each) => living.has(each))).toBe(true);
      }
    }
  });

  test("its order is that of the hashes", () => {
    const sample = run(sampleOf([segmentOf([1, 2, 3, 1_000, 3_000_000_000])]));
    expect(sample).toEqual([2, 1, 1_000, 3_000_000_000, 3]);
  });

  test("every part of a log has its share", () => {
    const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
    const segments = [segmentOf(numbers(1, 30_001)), segmentOf(numbers(30_001, 100_001))];
    const sample = run(sampleOf(segments));
    const inFirstHalf = sample.filter((sequence) => sequence <= 50_000).length;
    expect(inFirstHalf).toBeGreaterThan(SAMPLE_MAX * 0.45);
    expect(inFirstHalf).toBeLessThan(SAMPLE_MAX * 0.55);
  });
});
