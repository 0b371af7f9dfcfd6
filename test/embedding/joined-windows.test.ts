import { describe, expect, it } from "vitest";
import { type EmbeddedWindow, joinedToAtMost } from "../../src/embedding/pool/task.js";
import { VECTORS_MAX } from "../../src/index/vectors/keys.js";
import { QUERY_WINDOWS_MAX, TEXT_WINDOWS_MAX } from "../../src/memory/ports/embedder.js";

/** Makes windows of a text, of ten characters each, whose vectors all point in different directions. */
const windowsOf = (count: number): EmbeddedWindow[] =>
  Array.from({ length: count }, (_, i) => {
    const vector = new Float32Array(count);
    vector[i] = 1;
    return { start: i * 10, end: i * 10 + 10, vector };
  });

describe("the windows of a text", () => {
  it("are what they were while they are few enough, bit by bit", () => {
    const windows = windowsOf(8);
    expect(joinedToAtMost(windows, 8)).toBe(windows);
  });

  it.each([
    [9, 8],
    [100, 7],
    [1025, 64],
    [64, 1],
  ])(
    "are joined with their neighbours when they are %i and may be %i, and all of them count",
    (count, max) => {
      const joined = joinedToAtMost(windowsOf(count), max);
      expect(joined).toHaveLength(max);
      expect(joined[0]?.start).toBe(0);
      expect(joined.at(-1)?.end).toBe(count * 10);
      for (const [i, { start, end, vector }] of joined.entries()) {
        expect(start).toBe(i === 0 ? 0 : joined[i - 1]?.end);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
        const windows = [...vector].flatMap((value, window) => (value > 0 ? [window] : []));
        expect(windows).toEqual(Array.from({ length: (end - start) / 10 }, (_, n) => start / 10 + n));
      }
    },
  );

  it("of which the vectors cancel each other out are stood for by the first", () => {
    const [a, b] = [Float32Array.of(1, 0), Float32Array.of(-1, 0)];
    const windows = [
      { start: 0, end: 1, vector: a },
      { start: 1, end: 2, vector: b },
    ];
    expect(joinedToAtMost(windows, 1)).toEqual([{ start: 0, end: 2, vector: a }]);
  });

  it("have a place each in an index", () => {
    expect(TEXT_WINDOWS_MAX).toBeLessThanOrEqual(VECTORS_MAX);
    expect(QUERY_WINDOWS_MAX).toBeLessThanOrEqual(VECTORS_MAX);
  });
});
