import { describe, expect, it } from "vitest";
import { type Searchable, searchGraphs } from "../../../src/index/vectors/graphs.js";
import type { Hit } from "../../../src/memory/ports/index.js";

const VECTORS = 1000;
const WANTED = 64;
const EXPANSION = 32;

/** A segment whose graph misses nothing. */
interface Exact extends Searchable {
  /** Expansions of the searches of its graph. */
  readonly searched: number[];
}

function exact(first: number, similarities: readonly number[], gone = new Set<number>()): Exact {
  const sorted = similarities.toSorted((a, b) => b - a);
  const searched: number[] = [];
  return {
    searched,
    search: async (_, expansion) => {
      searched.push(expansion);
      const found = sorted.slice(0, expansion);
      return {
        keys: BigUint64Array.from(found, (_, i) => BigInt(i)),
        distances: Float32Array.from(found, (similarity) => 1 - similarity),
      };
    },
    rows: sorted.length,
    vectors: sorted.length - gone.size,
    expansionsFor: (count) => [Math.min(count + Math.min(gone.size, count), sorted.length)],
    collect: ({ keys, distances }, count, hits) => {
      const living = [...Array.from(keys).entries()].filter(([, key]) => !gone.has(Number(key)));
      for (const [i, key] of living.slice(0, count)) {
        hits.push({ sequence: first + Number(key), window: 0, similarity: 1 - (distances[i] as number) });
      }
    },
  };
}

async function search(segments: readonly Exact[], count = WANTED, limit = 1) {
  const { hits, all } = await searchGraphs({
    vector: new Float32Array(1),
    segments,
    limit,
    count,
    expansion: EXPANSION,
  });
  const best = [...hits].sort((a, b) => b.similarity - a.similarity).slice(0, count);
  return { best: best.map(({ sequence }: Hit) => sequence), all };
}

/** Similarities that go down evenly, from `highest` on. */
const falling = (highest: number, step: number) =>
  Array.from({ length: VECTORS }, (_, i) => highest - i * step);

describe("a search of several graphs", () => {
  it("searches each for its share if the nearest lie everywhere", async () => {
    const segments = Array.from({ length: 20 }, (_, i) =>
      exact(1 + i * VECTORS, falling(0.9 - i / 1e5, 1e-3)),
    );
    const { best, all } = await search(segments);
    expect(best).toHaveLength(WANTED);
    expect(best[0]).toBe(1);
    // The nearest of each graph come before the second ones of any.
    expect(new Set(best.slice(0, 20)).size).toBe(20);
    expect(segments.flatMap(({ searched }) => searched)).toEqual(Array(20).fill(EXPANSION));
    expect(all).toBe(false);
  });

  it("searches a graph again that may have more of the nearest", async () => {
    const others = Array.from({ length: 19 }, (_, i) => exact(1 + i * VECTORS, falling(0.3, 1e-4)));
    const topic = exact(50_001, falling(0.9, 1e-4));
    const { best } = await search([...others, topic]);
    expect(best).toEqual(Array.from({ length: WANTED }, (_, i) => 50_001 + i));
    expect(topic.searched).toEqual([EXPANSION, WANTED]);
    expect(others.every(({ searched }) => searched.length === 1)).toBe(true);
  });

  it("does not count what was removed", async () => {
    const gone = new Set(Array.from({ length: 30 }, (_, i) => i));
    const others = Array.from({ length: 19 }, (_, i) => exact(1 + i * VECTORS, falling(0.3, 1e-4)));
    const topic = exact(50_001, falling(0.9, 1e-4), gone);
    const { best } = await search([...others, topic]);
    expect(best).toEqual(Array.from({ length: WANTED }, (_, i) => 50_031 + i));
  });

  it("searches one graph, or few, as broadly as vectors are wanted, and once", async () => {
    for (const many of [1, 2, 3]) {
      const segments = Array.from({ length: many }, (_, i) => exact(1 + i * VECTORS, falling(0.9, 1e-3)));
      await search(segments);
      expect(segments.flatMap(({ searched }) => searched)).toEqual(Array(many).fill(WANTED));
    }
  });

  it("searches more broadly for more memories than its checks compare", async () => {
    const broadness = async (limit: number) => {
      const graph = exact(1, falling(0.9, 1e-3));
      await search([graph], limit + 14, limit);
      return graph.searched[0] as number;
    };
    // One that is barely as broad as what it is to find misses a tenth of it.
    expect(await broadness(208)).toBeGreaterThan(2 * 208);
    expect(await broadness(50)).toBeGreaterThan(2 * 50);
    expect(await broadness(10)).toBe(EXPANSION);
  });

  it("tells that it found all only if it did", async () => {
    const small = () =>
      Array.from({ length: 20 }, (_, i) => exact(1 + i * 60, falling(0.9, 1e-3).slice(0, 60)));
    expect((await search(small())).all).toBe(false);
    expect((await search(small(), 2000)).all).toBe(true);
    expect((await search([])).all).toBe(true);
  });
});
