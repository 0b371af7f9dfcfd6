import { describe, expect, it } from "vitest";
import { MAP_POINTS_MAX, type MapPorts, Maps, scattered } from "../../src/memory/calls/map.js";
import type { Stored } from "../../src/memory/ports/log.js";
import { toPlane } from "../../src/vectors/projection/pca.js";

/** Makes a source of numbers that are always the same. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("vectors in a plane", () => {
  const dimensions = 8;
  const random = chance(1);
  const rowsOf = (...vectors: number[][]) => Float32Array.from(vectors.flat());
  const cloud = (count: number, spread: readonly number[]) =>
    Array.from({ length: count }, () => spread.map((each) => each * (random() - 0.5)));

  it("lie along the two directions in which they differ most", () => {
    const rows = rowsOf(...cloud(500, [0.1, 5, 0.1, 0.1, 2, 0.1, 0.1, 0.1]));
    const places = toPlane({ rows, dimensions });
    for (let row = 0; row < 500; row++) {
      const scale = (rows[dimensions * row + 1] as number) / (places[2 * row] as number);
      if (Math.abs(places[2 * row] as number) > 0.2) expect(Math.abs(scale)).toBeCloseTo(2.5, 0);
    }
    const spread = (axis: number) => Math.max(...places.filter((_, i) => i % 2 === axis).map(Math.abs));
    expect(spread(0)).toBe(1);
    expect(spread(1)).toBeGreaterThan(0.25);
    expect(spread(1)).toBeLessThan(0.6);
  });

  it("are at the same places each time, and on the same side", () => {
    const rows = rowsOf(...cloud(100, [1, 2, 3, 4, 5, 6, 7, 8]));
    expect(toPlane({ rows, dimensions })).toEqual(toPlane({ rows: rows.slice(), dimensions }));
  });

  it.each([
    ["none", 0],
    ["one", 1],
    ["two that are equal", 2],
    ["many that are equal", 50],
  ])("lie at 0: %s", (_, count) => {
    const vector = Array.from({ length: dimensions }, () => 0.1);
    const rows = rowsOf(...Array.from({ length: count }, () => vector));
    expect([...toPlane({ rows, dimensions })]).toEqual(new Array(2 * count).fill(0));
  });

  it("lie at either end: two of them", () => {
    const [x1, y1, x2, y2] = toPlane({ rows: rowsOf(...cloud(2, [1, 1, 1, 1, 1, 1, 1, 1])), dimensions });
    expect(Math.abs(x1 as number)).toBeCloseTo(1);
    expect(x2).toBeCloseTo(-(x1 as number));
    expect([Math.abs(y1 as number), Math.abs(y2 as number)].every((y) => y < 1e-6)).toBe(true);
  });
});

describe("the map of a namespace", () => {
  const ports = (living: (sequence: number) => boolean, last: number) => {
    const entry = (sequence: number) =>
      ({ op: "store", id: `mem_${sequence}`, vectors: Float32Array.of(sequence) }) as unknown as Stored;
    const calls = { fetched: 0, projected: 0 };
    const memories = Array.from({ length: last }, (_, i) => i + 1).filter(living).length;
    const log = {
      successors: async () => [],
      measure: async () => ({ memories, bytes: 0 }),
      fetch: async ({ sequences }: { sequences: readonly number[] }) => {
        calls.fetched += sequences.length;
        const found = sequences.filter(living).map((sequence) => ({ sequence, entry: entry(sequence) }));
        return { found, rest: [] };
      },
    };
    const projector = {
      project: async ({ rows }: { rows: Float32Array }) => {
        calls.projected++;
        return Float32Array.from({ length: 2 * rows.length }, (_, i) => i);
      },
    };
    const clock = { nowMs: () => 0, wallMs: () => 0, yield: async () => {} };
    return { calls, maps: new Maps({ log, projector, clock } as unknown as MapPorts) };
  };

  it("has a point for each memory, in the order they were stored", async () => {
    const { maps } = ports((sequence) => sequence % 3 !== 0, 1000);
    const { points, memories } = await maps.of({ logId: "i", last: 1000 });
    expect([points.length, memories]).toEqual([667, 667]);
    expect(points[2]).toEqual({ id: "mem_4", x: 4, y: 5 });
    expect(new Set(points.map(({ id }) => id)).size).toBe(667);
  });

  it(`samples ${MAP_POINTS_MAX} of more, from all over the log, the same ones each time`, async () => {
    const drawn = [0, 1].map(() => ports(() => true, 100_000).maps.of({ logId: "i", last: 100_000 }));
    const [one, other] = await Promise.all(drawn);
    expect(one).toEqual(other);
    expect(one?.memories).toBe(100_000);
    expect(one?.points).toHaveLength(MAP_POINTS_MAX);
    const late = one?.points.filter(({ id }) => Number(id.slice(4)) > 50_000).length;
    expect(late).toBeGreaterThan(2400);
    expect(late).toBeLessThan(2600);
  });

  it("is drawn once for as long as nothing is stored", async () => {
    const { maps, calls } = ports(() => true, 10);
    const [one, other] = await Promise.all([10, 10].map((last) => maps.of({ logId: "i", last })));
    expect(one).toBe(other);
    await maps.of({ logId: "i", last: 9 });
    expect(calls.projected).toBe(2);
  });

  it("is drawn for a few at a time, and others are told to wait", async () => {
    const { maps } = ports(() => true, 10);
    const drawing = Array.from({ length: 6 }, (_, i) => maps.of({ logId: `i${i}`, last: 10 }));
    const ended = await Promise.allSettled(drawing);
    expect(ended.filter(({ status }) => status === "rejected")).toHaveLength(2);
    await maps.of({ logId: "i5", last: 10 });
  });

  it.each([1, 2, 3, 10, 1000, 6765])("comes by each of %i numbers once", (last) => {
    const numbers = [...scattered(last)];
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: last }, (_, i) => i + 1));
  });
});
