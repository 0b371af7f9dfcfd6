import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Selection } from "../../../src/index/fields/selection.js";
import type { VectorRow } from "../../../src/index/vectors/chunk.js";
import { seeded } from "../../simulation/time.js";
import { openVectors, type VectorsOptions, type VectorsWithFiles } from "./built.js";
import { cloud, nearest, type Point } from "./clouds.js";

const DIMENSIONS = 32;
const LIMIT = 18;
const WANTED = 10;
const rows = cloud(12_000, { dimensions: DIMENSIONS });
const queries = cloud(40, { dimensions: DIMENSIONS, seed: 2 }).map(({ vector }) => vector);

const opened: VectorsWithFiles[] = [];
afterEach(() => Promise.all(opened.splice(0).map((index) => index.close())));

/** Makes an index, which the end of the test closes. */
async function filled(
  points: readonly VectorRow[],
  options: Partial<VectorsOptions> = {},
): Promise<VectorsWithFiles> {
  const index = await built(points, options);
  opened.push(index);
  return index;
}

async function built(
  points: readonly VectorRow[],
  options: Partial<VectorsOptions> = {},
): Promise<VectorsWithFiles> {
  const vectors = openVectors({
    dimensionsOf: () => DIMENSIONS,
    folder: mkdtempSync(join(tmpdir(), "recalld-filtered-")),
    exactRowsMax: 500,
    tailRowsMax: 500,
    segmentRowsMax: 4_000,
    sealingShare: Number.POSITIVE_INFINITY,
    ...options,
  });
  const index = vectors.open("i1");
  for (let i = 0; i < points.length; i += 1000) await index.add(points.slice(i, i + 1000));
  await index.settled();
  return index;
}

const among = (points: readonly { sequence: number }[]) =>
  Selection.from(Float64Array.from(points, ({ sequence }) => sequence));

/** Share of the truly nearest that searches among some memories find; they find no other. */
async function recallOf(
  index: VectorsWithFiles,
  allowed: readonly Point[],
  asked: readonly Float32Array[] = queries,
): Promise<number> {
  const selection = among(allowed);
  let [found, compared] = [0, 0];
  for (const vector of asked) {
    const hits = await index.search({ vector, limit: LIMIT, among: selection });
    const memories = [...new Set(hits.map(({ sequence }) => sequence))];
    expect(memories.length).toBe(Math.min(LIMIT, allowed.length));
    expect(memories.every((sequence) => selection.has(sequence))).toBe(true);
    const truth = nearest(allowed, vector, WANTED);
    compared += truth.length;
    found += truth.filter((sequence) => memories.includes(sequence)).length;
  }
  return found / Math.max(1, compared);
}

const scaled = (vector: Float32Array) => vector.map((x) => x / Math.hypot(...vector));
const random = seeded(3);
const oneIn = (many: number) => rows.filter(() => random() < 1 / many);

describe("a search among some memories", () => {
  /** Nothing is added to this one, or removed. */
  let whole: VectorsWithFiles;
  beforeAll(async () => {
    whole = await built(rows);
  });
  afterAll(() => whole.close());

  it("finds the nearest of them, however few they are", async () => {
    for (const many of [1, 2, 5, 10, 30, 100, 1_000]) {
      expect(await recallOf(whole, oneIn(many)), `1 in ${many}`).toBe(1);
    }
    expect(await recallOf(whole, [rows[7] as Point])).toBe(1);
    expect(await whole.search({ vector: queries[0] as Float32Array, limit: 5, among: among([]) })).toEqual(
      [],
    );
  }, 60_000);

  it("finds the nearest of many in the graphs, also if a filter leaves out what is near", async () => {
    const many = cloud(38_000, { dimensions: DIMENSIONS });
    const index = await filled(many, {
      exactRowsMax: 4_000,
      tailRowsMax: 4_000,
      segmentRowsMax: 20_000,
      comparedBytesMax: 0,
    });
    const [query] = queries as [Float32Array];
    const order = new Set(nearest(many, query, 2_000));
    // So many that they are not all compared.
    const spread = many.filter(({ sequence }) => sequence % 30 !== 0);
    const farther = many.filter(({ sequence }) => !order.has(sequence));
    // A graph differs a little each time it is built: an unfiltered search of these also finds 99 %, or a little less.
    expect(await recallOf(index, spread)).toBeGreaterThanOrEqual(0.97);
    expect(await recallOf(index, farther, [query])).toBe(1);
  }, 120_000);

  it("finds those that are far from the query, though there are many", async () => {
    const [query] = queries as [Float32Array];
    const order = nearest(rows, query, rows.length);
    const far = new Set(order.slice(order.length / 2));
    const allowed = rows.filter(({ sequence }) => far.has(sequence));
    const hits = await whole.search({ vector: query, limit: LIMIT, among: among(allowed) });
    const truth = nearest(allowed, query, WANTED);
    expect(truth.filter((sequence) => hits.some((hit) => hit.sequence === sequence)).length).toBe(WANTED);
  }, 60_000);

  it("finds them in the tail, in segments, and where removed ones were", async () => {
    const index = await filled(rows, { exactRowsMax: 5_000, tailRowsMax: 5_000, segmentRowsMax: 6_000 });
    await index.remove(rows.filter(({ sequence }) => sequence % 5 === 0).map(({ sequence }) => sequence));
    const living = rows.filter(({ sequence }) => sequence % 5 !== 0);
    for (const many of [2, 20, 200]) {
      const allowed = living.filter(({ sequence }) => (sequence * 2_654_435_761) % 2 ** 32 < 2 ** 32 / many);
      expect(await recallOf(index, allowed), `1 in ${many}`).toBeGreaterThanOrEqual(0.99);
    }
    // Removed since the filter selected it.
    const [gone] = rows.filter(({ sequence }) => sequence % 5 === 0) as [Point];
    const selection = among([gone, ...living.slice(0, 3)].sort((a, b) => a.sequence - b.sequence));
    const hits = await index.search({ vector: gone.vector, limit: 5, among: selection });
    expect(hits.map(({ sequence }) => sequence)).not.toContain(gone.sequence);
  }, 60_000);

  it("finds a few vectors of each, though one has many", async () => {
    const [query] = queries as [Float32Array];
    const near = (noise: number) => query.map((x) => x + (random() - 0.5) * noise);
    const windows = Array.from({ length: 200 }, (_, i) => near(i / 200));
    const long = { sequence: 1, vectors: windows.map(scaled) };
    const others = rows.slice(1, 3_000);
    const index = await filled([long, ...others]);
    for (const allowed of [others.slice(0, 20), others.filter((_, i) => i % 2 === 0)]) {
      const selection = among([long, ...allowed]);
      const hits = await index.search({ vector: query, limit: 5, among: selection });
      const memories = [...new Set(hits.map(({ sequence }) => sequence))];
      expect(memories.length).toBe(5);
      expect(memories[0]).toBe(1);
      const missed = nearest(allowed, query, 4).filter((sequence) => !memories.includes(sequence));
      expect(missed.length).toBe(0);
    }
  }, 60_000);

  it("reads the file of a segment that takes another's place before the first search in it", async () => {
    const [query] = queries as [Float32Array];
    const first = rows.slice(0, 1_000);
    const bytesAfter = async (search: object) => {
      const index = await filled(first, { comparedBytesMax: 0 });
      await index.search({ vector: query, limit: LIMIT, ...search });
      await index.add(rows.slice(1_000, 2_000));
      await index.settled();
      return index.bytes;
    };
    const read = (await bytesAfter({ among: among(first) })) - (await bytesAfter({}));
    expect(read).toBe(2_000 * DIMENSIONS);
  });

  it("gives back what it compared once it has too many vectors for that, unless filters need it", async () => {
    const [query] = queries as [Float32Array];
    const first = rows.slice(0, 1_000);
    // The others go into the same segment, and into another.
    for (const segmentRowsMax of [4_000, 1_400]) {
      const bytesAfter = async (comparedBytesMax: number, search: object) => {
        const index = await filled(first, { comparedBytesMax, segmentRowsMax });
        await index.search({ vector: query, limit: LIMIT, ...search });
        await index.add(rows.slice(1_000, 2_000));
        await index.settled();
        return index.bytes;
      };
      const never = await bytesAfter(0, {});
      expect(await bytesAfter(1_500 * DIMENSIONS, {})).toBe(never);
      const needed = await bytesAfter(1_500 * DIMENSIONS, { among: among(first) });
      expect(needed).toBe(never + 2_000 * DIMENSIONS);
    }
  });

  it("reads files where no search in the graphs waits for it", async () => {
    const index = await filled(rows, { comparedBytesMax: 0 });
    const [query] = queries as [Float32Array];
    const broad = () => index.search({ vector: query, limit: 600 });
    // This starts the thread.
    await broad();
    const ended: string[] = [];
    await Promise.all([
      index
        .search({ vector: query, limit: 5, among: among(rows.slice(0, 50)) })
        .then(() => ended.push("reads")),
      broad().then(() => ended.push("searches")),
    ]);
    expect(ended).toEqual(["searches", "reads"]);
  });

  it("goes on while segments are replaced", async () => {
    const index = await filled(rows.slice(0, 4_000), { exactRowsMax: 200, tailRowsMax: 200 });
    const allowed = rows.slice(0, 4_000).filter(({ sequence }) => sequence % 50 === 0);
    const selection = among(allowed);
    const [query] = queries as [Float32Array];
    const truth = nearest(allowed, query, WANTED);
    for (let i = 4_000; i < 8_000; i += 100) {
      await index.add(rows.slice(i, i + 100));
      const hits = await index.search({ vector: query, limit: LIMIT, among: selection });
      const memories = new Set(hits.map(({ sequence }) => sequence));
      expect(truth.filter((sequence) => memories.has(sequence)).length).toBe(WANTED);
    }
    await index.settled();
  }, 60_000);

  it("finds enough of them while others remove the nearest", async () => {
    const index = await filled(rows.slice(0, 8_000));
    const [query] = queries as [Float32Array];
    let living = rows.slice(0, 8_000);
    await index.search({ vector: query, limit: LIMIT, among: among(living) });
    // Each slice of its time is over at once, so it lets others remove memories wherever it may.
    let nowMs = performance.now();
    const now = vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 10));
    try {
      for (let iterations = 0; iterations < 8; iterations++) {
        const near = new Set(nearest(living, query, 5 * LIMIT));
        const searching = index.search({ vector: query, limit: LIMIT, among: among(living) });
        for (let i = 0; i < iterations; i++) await new Promise((resolve) => setImmediate(resolve));
        const removing = index.remove([...near]);
        expect(new Set((await searching).map(({ sequence }) => sequence)).size, `after ${iterations}`).toBe(
          LIMIT,
        );
        await removing;
        living = living.filter(({ sequence }) => !near.has(sequence));
      }
    } finally {
      now.mockRestore();
    }
  });
});
