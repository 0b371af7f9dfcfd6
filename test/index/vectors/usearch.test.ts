import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { exactSearch, MetricKind } from "usearch";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../../src/concurrency/clock.js";
import { Selection } from "../../../src/index/fields/selection.js";
import { eraseUnreadable, openIndexes } from "../../../src/index/open.js";
import type { VectorRow } from "../../../src/index/vectors/chunk.js";
import { CHECKS_FIRST } from "../../../src/index/vectors/expansion-tuner.js";
import type { RecallMeasured } from "../../../src/memory/ports/index.js";
import { aMemory } from "../../contract/samples.js";
import { seeded } from "../../simulation/time.js";
import { filesIn, openUsearch, openVectors, type VectorsOptions, type VectorsWithFiles } from "./built.js";
import { bf16, cloud, nearest, type Point, pointOf } from "./clouds.js";

const DIMENSIONS = 32;
const TAIL_ROWS_MAX = 500;
const rows = cloud(2000, { dimensions: DIMENSIONS });
const queries = cloud(50, { dimensions: DIMENSIONS, seed: 2 }).map(({ vector }) => vector);

const opened: VectorsWithFiles[] = [];
afterEach(() => Promise.all(opened.splice(0).map((index) => index.close())));

function open(
  snapshotsDir = newFolder(),
  options: Partial<VectorsOptions> = {},
): { index: VectorsWithFiles; snapshotsDir: string } {
  const vectors = openVectors({
    dimensionsOf: () => DIMENSIONS,
    folder: snapshotsDir,
    exactRowsMax: TAIL_ROWS_MAX,
    tailRowsMax: TAIL_ROWS_MAX,
    sealingShare: Number.POSITIVE_INFINITY,
    // Its graphs are searched, however small they are.
    comparedBytesMax: 0,
    ...options,
  });
  const index = vectors.open("i1");
  opened.push(index);
  return { index, snapshotsDir };
}

const newFolder = () => mkdtempSync(join(tmpdir(), "recalld-vectors-"));
const manifestsIn = (folder: string) => filesIn(folder).filter((path) => path.endsWith(".json"));
const mark = (sequence: number) => ({ sequence, opId: `op${sequence}` });
/** Makes the entry that a snapshot returns for a memory from which nothing was removed. */
const whole = (sequence: number) => ({ ...mark(sequence), wiped: [] });
const graphIn = (folder: string) => filesIn(folder).find((path) => path.endsWith(".usearch")) ?? "";

async function recallOf(index: VectorsWithFiles, present: readonly Point[]): Promise<number> {
  let hits = 0;
  for (const vector of queries) {
    const truth = new Set(nearest(present, vector, 10));
    hits += (await index.search({ vector, limit: 10 })).filter(({ sequence }) => truth.has(sequence)).length;
  }
  return hits / (queries.length * 10);
}

describe("an index by USearch", () => {
  it("is lost once its files are gone, and with them what new segments are made of", async () => {
    const { index, snapshotsDir } = open();
    await index.add(rows.slice(0, 600));
    await index.settled();
    const onLost = vi.fn();
    index.onLost = onLost;
    rmSync(snapshotsDir, { recursive: true });
    await index.add(rows.slice(600, 1200));
    await index.settled();
    expect(onLost).toHaveBeenCalled();
  });

  it.each([0, 2 ** 20])(
    "finds all that are left of many, though removed ones, as zeros, are nearer than they (comparing %s bytes)",
    async (comparedBytesMax) => {
      const random = seeded(8);
      // All point away from the query. A share of no core keeps the segment from being built anew.
      const vectors = Array.from({ length: 800 }, () =>
        Float32Array.from({ length: DIMENSIONS }, () => -1 - random()),
      );
      const { index } = open(newFolder(), { comparedBytesMax, sealingShare: 0 });
      await index.add(vectors.map((vector, i) => ({ sequence: i + 1, vectors: [vector] })));
      await index.settled();
      await index.remove(Array.from({ length: 740 }, (_, i) => i + 1));
      const vector = new Float32Array(DIMENSIONS).fill(1);
      for (const limit of [10, 50, 60]) {
        // The first search may begin to read the vectors that the next one compares.
        for (let i = 0; i < 2; i++, await wait(20)) {
          expect(await index.search({ vector, limit, spare: 0 })).toHaveLength(limit);
        }
      }
    },
  );

  it("finds nothing while it is empty", async () => {
    const { index } = open();
    expect(await index.search({ vector: queries[0] as Float32Array, limit: 5 })).toEqual([]);
  });

  it("is exact while small", async () => {
    const { index } = open();
    await index.add(rows.slice(0, TAIL_ROWS_MAX));
    expect(await recallOf(index, rows.slice(0, TAIL_ROWS_MAX))).toBe(1);
  });

  it("finds nearly all by way of graphs when large", async () => {
    const { index } = open();
    await index.add(rows);
    await index.settled();
    expect(index.error).toBeGreaterThan(1e-3);
    expect(index.size).toBe(rows.length);
    expect(await recallOf(index, rows)).toBeGreaterThan(0.98);
  });

  // It compares with all memories 50 at a time, which takes 3 s alone.
  it("answers, and takes in more, while memories are sealed", { timeout: 120_000 }, async () => {
    const { index } = open();
    const adding: Promise<void>[] = [];
    for (let from = 0; from < rows.length; from += 50) {
      adding.push(index.add(rows.slice(from, from + 50)));
      expect(await recallOf(index, rows.slice(0, from + 50))).toBeGreaterThan(0.97);
    }
    await Promise.all(adding);
    expect(index.size).toBe(rows.length);
  });

  it.each([
    ["small", 300],
    ["large", 2000],
  ])("never finds what was taken out of a %s one", async (_, count) => {
    const { index } = open();
    const present = rows.slice(0, count);
    await index.add(present);
    const gone = present.filter(({ sequence }) => sequence % 5 === 0).map(({ sequence }) => sequence);
    await index.remove(gone);
    await index.remove([...gone, 999_999]);
    const left = present.filter(({ sequence }) => sequence % 5 !== 0);
    expect(index.size).toBe(left.length);
    expect(await recallOf(index, left)).toBeGreaterThan(0.97);
    for (const vector of queries) {
      const found = await index.search({ vector, limit: count });
      expect(found.filter(({ sequence }) => sequence % 5 === 0)).toEqual([]);
    }
  });

  it("takes vectors out while they are sealed", async () => {
    const { index } = open();
    const adding = index.add(rows.slice(0, TAIL_ROWS_MAX + 1));
    const removing = index.remove([1, 2, 3]);
    await Promise.all([adding, removing]);
    expect(index.size).toBe(TAIL_ROWS_MAX - 2);
    expect(await recallOf(index, rows.slice(3, TAIL_ROWS_MAX + 1))).toBeGreaterThan(0.98);
  });

  it("builds a segment anew that has many gaps, while it serves", async () => {
    const { index, snapshotsDir } = open();
    await index.add(rows);
    await index.settled();
    const before = statSync(graphIn(snapshotsDir)).size;
    const removing = index.remove(rows.slice(0, 1200).map(({ sequence }) => sequence));
    expect(await recallOf(index, rows.slice(1200))).toBeGreaterThan(0.97);
    await removing;
    await index.settled();
    expect(statSync(graphIn(snapshotsDir)).size).toBeLessThan(before / 2);
    expect(index.size).toBe(800);
    expect(await recallOf(index, rows.slice(1200))).toBeGreaterThan(0.98);
    const { index: again } = open(snapshotsDir);
    expect(await again.restore()).toEqual(whole(2000));
    expect(again.size).toBe(800);
  });

  it("seals what waits when the pause after the last sealing ends, though nothing more is added or removed", async () => {
    const { index } = open(newFolder(), { sealingShare: 0.3 });
    await index.add(rows.slice(0, 600));
    await index.settled();
    await index.add(rows.slice(600, 1300));
    const late = index.rowCounts.tail;
    expect(late).toBe(700);
    await vi.waitFor(() => expect(index.rowCounts.tail).toBe(0), { timeout: 30_000 });
    // In a tail that begins anew, a few vectors take little memory.
    const { bytes } = index;
    await index.add(rows.slice(1300, 1305));
    expect(index.bytes - bytes).toBeLessThan(16 * (5 * DIMENSIONS + 8) + 1);
  });

  it("begins another segment when one is full, and finds what is in any", async () => {
    const { index, snapshotsDir } = open(newFolder(), { segmentRowsMax: 600 });
    for (let from = 0; from < 2000; from += 250) {
      await index.add(rows.slice(from, from + 250));
      await index.settled();
    }
    expect(manifestsIn(snapshotsDir).length).toBeGreaterThan(1);
    expect(await recallOf(index, rows)).toBeGreaterThan(0.98);
    await index.remove([3, 1500]);
    await index.close();
    const { index: again } = open(snapshotsDir, { segmentRowsMax: 600 });
    const restored = await again.restore();
    // The manifests were written when it was closed.
    expect(restored?.wiped).toEqual([]);
    await again.add(rows.slice(restored?.sequence ?? 0).filter(({ sequence }) => sequence !== 1500));
    expect(again.size).toBe(1998);
    const left = rows.filter(({ sequence }) => sequence !== 3 && sequence !== 1500);
    expect(await recallOf(again, left)).toBeGreaterThan(0.98);
  });

  it("passes over no memory behind long ones that take a segment's share of the nearest", async () => {
    const { index } = open();
    const at = (cosine: number) => {
      const vector = new Float32Array(DIMENSIONS);
      vector.set([cosine, Math.sqrt(1 - cosine ** 2)]);
      return vector;
    };
    const windowsFrom = (sequence: number) =>
      Array.from({ length: 60 }, (_, i) => at(0.99 - sequence / 1000 - i / 1e5));
    const long = [1, 2, 3, 4].map((sequence) => ({ sequence, vectors: windowsFrom(sequence) }));
    const few = Array.from({ length: 20 }, (_, i) => pointOf(5 + i, at(0.9 - i / 100)));
    const far = Array.from({ length: TAIL_ROWS_MAX }, (_, i) => pointOf(25 + i, at(-i / TAIL_ROWS_MAX)));
    await index.add([...long, ...few, ...far]);
    await index.settled();
    // These are in the tail.
    const farther = Array.from({ length: 20 }, (_, i) => pointOf(600 + i, at(0.5 - i / 100)));
    await index.add(farther);
    const sequences = [...long, ...few, ...farther].map(({ sequence }) => sequence);
    for (const among of [undefined, Selection.from(Float64Array.from(sequences))]) {
      const hits = await index.search({ vector: at(1), limit: 10, among });
      expect([...new Set(hits.map(({ sequence }) => sequence))]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
  });

  it("misses nothing while comparing all takes no longer than searching the graphs, like no memory or not", async () => {
    const spread = { dimensions: 128, seed: 5 };
    const points = cloud(6_000, spread);
    const { index } = open(newFolder(), {
      dimensionsOf: () => spread.dimensions,
      segmentRowsMax: 4_000,
      comparedBytesMax: 16_000 * spread.dimensions,
    });
    await index.add(points);
    await index.settled();
    const random = seeded(9);
    const unlike = () => Float32Array.from({ length: spread.dimensions }, () => random() - 0.5);
    const removed = points.filter((_, i) => i % 5 === 0).map(({ sequence }) => sequence);
    for (const present of [points, points.filter((_, i) => i % 5 !== 0)]) {
      if (present !== points) await index.remove(removed);
      for (const vector of Array.from({ length: 60 }, unlike)) {
        const hits = await index.search({ vector, limit: 18 });
        const found = new Set(hits.map(({ sequence }) => sequence));
        expect(nearest(present, vector, 10).filter((sequence) => !found.has(sequence))).toEqual([]);
      }
    }
  });

  it.each([
    ["misses nothing while it is not known what graphs miss, or if they miss much", false],
    ["searches graphs once checks have shown that they miss little, and gives memory back", true],
  ])("%s", async (_, isLike) => {
    const spread = { dimensions: 128, seed: 5 };
    const points = cloud(6_000, spread);
    let checks = 0;
    const { index } = open(newFolder(), {
      dimensionsOf: () => spread.dimensions,
      comparedBytesMax: 6_000 * spread.dimensions,
      onChecked: () => checks++,
    });
    await index.add(points);
    await index.settled();
    // A check follows another after a second at least.
    const now = performance.now.bind(performance);
    let laterMs = 0;
    const later = vi.spyOn(performance, "now").mockImplementation(() => now() + laterMs);
    onTestFinished(() => later.mockRestore());
    const random = seeded(9);
    const missed = async () => {
      const at = Math.floor(random() * points.length);
      const vector = isLike
        ? (points[at] as Point).vector
        : Float32Array.from({ length: spread.dimensions }, () => random() - 0.5);
      const found = new Set((await index.search({ vector, limit: 18 })).map(({ sequence }) => sequence));
      return nearest(points, vector, 10).filter((sequence) => !found.has(sequence)).length;
    };
    // Vectors that are compared take memory beside their graph.
    const { bytes } = index;
    for (; checks < CHECKS_FIRST; laterMs += 1e9) {
      const before = checks;
      expect(await missed()).toBe(0);
      while (checks === before) await wait(1);
    }
    expect(bytes - index.bytes).toBe(isLike ? points.length * spread.dimensions : 0);
    for (let i = 0; i < 60 && !isLike; i++) expect(await missed()).toBe(0);
  });

  it("compares vectors in memory only if they take at most an eighth of that for all indexes", async () => {
    const bytesAt = async (options: Partial<VectorsOptions>) => {
      const sizes = { exactRowsMax: TAIL_ROWS_MAX, tailRowsMax: TAIL_ROWS_MAX };
      const vectors = openVectors({
        dimensionsOf: () => DIMENSIONS,
        folder: newFolder(),
        ...sizes,
        ...options,
      });
      const index = vectors.open("i1");
      opened.push(index);
      await index.add(rows.slice(0, 700));
      await index.settled();
      await recallOf(index, rows.slice(0, 700));
      return index.bytes;
    };
    const compared = 700 * DIMENSIONS;
    const bytes = await bytesAt({ comparedBytesMax: 0 });
    expect(await bytesAt({ memoryBytesMax: 8 * compared - 8 })).toBe(bytes);
    expect(await bytesAt({ memoryBytesMax: 8 * compared })).toBe(bytes + compared);
  });

  it("gives the memory of its copies back, also of those that filters made, and finds the same afterwards", async () => {
    const { index } = open(newFolder(), { comparedBytesMax: 1e9 });
    await index.add(rows.slice(0, 700));
    await index.settled();
    const search = { vector: queries[0] as Float32Array, limit: 10 };
    const among = new Selection([]).with(Array.from({ length: 50 }, (_, i) => 2 * i + 1));
    const found = async () => [await index.search(search), await index.search({ ...search, among })];
    await found();
    const copied = 700 * DIMENSIONS;
    const [before, bytes] = [await found(), index.bytes];
    expect(index.copiedBytes).toBe(copied);
    // One search is under way meanwhile.
    const searching = found();
    index.releaseCopies();
    expect([index.copiedBytes, index.bytes]).toEqual([0, bytes - copied]);
    expect(await searching).toEqual(before);
    await found();
    expect(await found()).toEqual(before);
    expect(index.copiedBytes).toBe(copied);
  });

  it("finds the oldest of memories that are equally near, in segments and the tail, with a filter or not", async () => {
    const { index } = open(newFolder(), { segmentRowsMax: 700, comparedBytesMax: 2 ** 20 });
    const [equal] = queries as [Float32Array];
    // The newest of them are in the tail, and others in two segments.
    const points = rows.slice(0, 1_500).map(({ sequence, vector }) => {
      const vectors = [sequence % 5 === 0 && sequence > 600 ? equal : vector];
      return { sequence, vectors };
    });
    await index.add(points.slice(0, 1_400));
    await index.settled();
    await index.add(points.slice(1_400));
    await index.settled();
    const some = Float64Array.from(
      points.filter((_, i) => i % 2 === 1),
      ({ sequence }) => sequence,
    );
    const query = equal.map((value, i) => value + (i % 3) / 50);
    for (const [among, first, step] of [
      [undefined, 605, 5],
      [Selection.from(some), 610, 10],
    ] as const) {
      for (let limit = 20; limit <= 80; limit += 20) {
        const found = (await index.search({ vector: query, limit, among })).slice(0, limit);
        expect(found.map(({ sequence }) => sequence)).toEqual(
          Array.from({ length: limit }, (_, i) => first + step * i),
        );
      }
    }
  });

  it("measures what it finds, by searching a served query again exactly", async () => {
    const checks: RecallMeasured[] = [];
    const { index } = open(newFolder(), { onChecked: (checked) => checks.push(checked) });
    await index.add(rows);
    await index.settled();
    await index.search({ vector: queries[0] as Float32Array, limit: 5 });
    for (let i = 0; checks.length === 0 && i < 250; i++) await wait(20);
    expect(checks).toHaveLength(1);
    expect(checks[0]?.compared).toBe(10);
    expect(checks[0]?.found).toBeGreaterThan(7);
  });

  it("is not closed before a check has ended, whose thread may run native code", async () => {
    const checks: RecallMeasured[] = [];
    const { index } = open(newFolder(), { onChecked: (checked) => checks.push(checked) });
    await index.add(rows);
    await index.settled();
    await index.search({ vector: queries[0] as Float32Array, limit: 5 });
    await index.close();
    expect(checks).toHaveLength(1);
  });

  it.skipIf(process.platform !== "linux")(
    "builds in a thread that lets all others go first (on Linux)",
    async () => {
      const { index } = open();
      await index.add(rows);
      await index.settled();
      const niceness = readdirSync("/proc/self/task").map((id) => {
        // The numbers follow the name, which is in brackets.
        const numbers = readFileSync(`/proc/self/task/${id}/stat`, "utf8").split(") ")[1]?.split(" ");
        return Number(numbers?.[16]);
      });
      expect(niceness).toContain(0);
      expect(niceness).toContain(10);
    },
  );

  it("takes more memory rather than losing a memory when its files cannot be written", async () => {
    const troubles: unknown[] = [];
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    const { index } = open(file, { onTrouble: (error) => troubles.push(error), backlogBytesMax: 200_000 });
    await index.add(rows.slice(0, 1000));
    await index.settled();
    expect(troubles).toHaveLength(1);
    expect(await recallOf(index, rows.slice(0, 1000))).toBe(1);
    await expect(index.add(rows.slice(1000))).rejects.toMatchObject({ code: "unavailable" });
    expect(index.size).toBe(2000);
  });

  describe.each([
    ["small", 100],
    ["large", 1000],
  ])("a %s one with many vectors of a memory", (_, count) => {
    /** Memories of which the first has half of the vectors, and every other one has one vector. */
    const memories: VectorRow[] = [
      { sequence: 1, vectors: rows.slice(0, count / 2).map(({ vector }) => vector) },
      ...rows.slice(count / 2, count).map(({ vector }, i) => pointOf(2 + i, vector)),
    ];
    const middle = Math.floor(count / 4);

    async function filled() {
      const { index, snapshotsDir } = open();
      await index.add(memories);
      await index.settled();
      return { index, snapshotsDir };
    }

    it("counts memories, and tells which vector is near", async () => {
      const { index } = await filled();
      expect(index.size).toBe(1 + count / 2);
      const [best] = await index.search({ vector: (rows[middle] as Point).vector, limit: 1 });
      expect(best).toMatchObject({ sequence: 1, window: middle });
      expect(best?.similarity).toBeCloseTo(1, 2);
    });

    it("finds as many memories as are asked for, although one has the first places", async () => {
      const { index } = await filled();
      // It is in the middle of the first memory's vectors.
      const vector = (rows[middle] as Point).vector;
      for (const limit of [1, 10, 1 + count / 2]) {
        const found = new Set((await index.search({ vector, limit })).map(({ sequence }) => sequence));
        expect(found.size).toBeGreaterThanOrEqual(limit);
      }
      // It returns only the nearest few of each memory, because there could be any number of others.
      const all = await index.search({ vector, limit: 10_000 });
      expect(new Set(all.map(({ sequence }) => sequence)).size).toBe(1 + count / 2);
      expect(all.length).toBeLessThan(10 + count / 2);
    });

    it("takes all vectors of a memory out", async () => {
      const { index } = await filled();
      await index.remove([1]);
      expect(index.size).toBe(count / 2);
      for (const vector of queries) {
        const found = await index.search({ vector, limit: 20 });
        expect(found.filter(({ sequence }) => sequence === 1)).toEqual([]);
        expect(found.length).toBeGreaterThanOrEqual(20);
      }
      await index.add([{ ...(memories[0] as VectorRow), sequence: 5000 }]);
      expect(index.size).toBe(1 + count / 2);
    });
  });

  it("keeps which vectors are of which memory in a snapshot", async () => {
    const { index, snapshotsDir } = open();
    const long = { sequence: 9000, vectors: queries };
    await index.add([...rows.slice(0, 1000), long]);
    await index.settled();
    const { index: again } = open(snapshotsDir);
    expect(await again.restore()).toEqual(whole(9000));
    expect(again.size).toBe(1001);
    const [best] = await again.search({ vector: queries[7] as Float32Array, limit: 1 });
    expect(best).toMatchObject({ sequence: 9000, window: 7 });
    await again.remove([9000]);
    expect(again.size).toBe(1000);
    expect((await again.search({ vector: queries[7] as Float32Array, limit: 1 }))[0]?.sequence).not.toBe(
      9000,
    );
  });

  it.each([
    ["NaN", Float32Array.from({ length: DIMENSIONS }, () => Number.NaN)],
    ["infinite", Float32Array.from({ length: DIMENSIONS }, () => Number.POSITIVE_INFINITY)],
    ["shorter", new Float32Array(DIMENSIONS - 1)],
  ])("refuses a vector that is %s", async (_, vector) => {
    const { index } = open();
    await expect(index.add([pointOf(1, vector)])).rejects.toThrow(/finite vectors of 32/);
    await expect(index.search({ vector, limit: 1 })).rejects.toThrow(/finite vectors of 32/);
    expect(index.size).toBe(0);
  });
});

describe.skipIf(process.platform !== "linux")("the threads of indexes", () => {
  /** Lists the threads of this process, which has begun no index before. */
  const threads = () => readdirSync("/proc/self/task").length;
  const untilThreadsAre = async (count: number) => {
    for (let i = 0; threads() > count && i < 100; i++) await wait(20);
    expect(threads()).toBeLessThanOrEqual(count);
  };

  it("end when all is closed, even while something is restored or sealed", async () => {
    const { index, snapshotsDir } = open();
    await index.add(rows);
    await index.settled();
    await index.close();
    const before = threads();
    for (let i = 0; i < 5; i++) {
      const vectors = openVectors({
        dimensionsOf: () => DIMENSIONS,
        folder: snapshotsDir,
        exactRowsMax: 100,
      });
      const restored = vectors.open("i1");
      const restoring = restored.restore();
      await restored.close();
      expect(await restoring).toBeUndefined();
      const sealed = vectors.open("i2");
      await sealed.add(rows);
      await sealed.close();
      await vectors.close();
    }
    await untilThreadsAre(before);
    expect(await open(snapshotsDir).index.restore()).toEqual(whole(2000));
  });

  it("hold a graph's file once each, however often they search it", async () => {
    const { index, snapshotsDir } = open();
    await index.add(rows);
    await index.settled();
    for (const vector of queries) await index.search({ vector, limit: 600 });
    const path = graphIn(snapshotsDir);
    const held = readFileSync("/proc/self/maps", "utf8")
      .split("\n")
      .filter((line) => line.endsWith(path));
    expect(held.length).toBeLessThanOrEqual(2);
  });
});

describe("the exact search", () => {
  it("is never given an array that is a part of its buffer: the library would read from its start", async () => {
    const all = new Float32Array([1, 0, 0, 1]);
    const [, second] = [all.subarray(0, 2), all.subarray(2)];
    // The nearest to (0, 1) is the second, but the search is for (1, 0).
    expect(exactSearch(all, second as Float32Array, 2, 1, MetricKind.Cos, 1).keys[0]).toBe(0n);
    for (const count of [300, 2000]) {
      const { index } = open();
      await index.add(rows.slice(0, count));
      const buffer = new Float32Array(3 * DIMENSIONS);
      buffer.set((rows[7] as Point).vector, 2 * DIMENSIONS);
      const view = buffer.subarray(2 * DIMENSIONS);
      expect((await index.search({ vector: view, limit: 1 }))[0]?.sequence).toBe(8);
    }
  });
});

describe("a snapshot", () => {
  it("gives the index back, and the place in the log", async () => {
    const { index, snapshotsDir } = open();
    await index.add(rows);
    await index.remove([7]);
    await index.settled();
    const { index: again } = open(snapshotsDir);
    expect(await again.restore()).toEqual(whole(rows.length));
    expect(again.size).toBe(rows.length - 1);
    expect(
      await recallOf(
        again,
        rows.filter(({ sequence }) => sequence !== 7),
      ),
    ).toBeGreaterThan(0.98);
  });

  it("takes the place of the one before", async () => {
    const { index, snapshotsDir } = open();
    await index.add(rows.slice(0, 1000));
    await index.settled();
    await index.add(rows.slice(1000));
    await index.settled();
    expect(filesIn(snapshotsDir).map((path) => extname(path))).toEqual([".json", ".segment", ".usearch"]);
    const { index: again } = open(snapshotsDir);
    expect(await again.restore()).toEqual(whole(2000));
  });

  it("holds nothing of a vector that was taken out before it was written", async () => {
    const { index, snapshotsDir } = open();
    await index.add(rows);
    // These are more than are overwritten in the graph at once.
    const gone = rows.slice(0, 300).map(({ sequence }) => sequence);
    await index.remove(gone);
    await index.settled();
    const kept = readFileSync(graphIn(snapshotsDir));
    for (const { vector } of rows.slice(0, 300)) expect(kept.includes(bf16(vector))).toBe(false);
    for (const { vector } of rows.slice(300)) expect(kept.includes(bf16(vector))).toBe(true);
  });

  it("that was of use least recently makes room for a new one, unless its index is open", async () => {
    const snapshotsDir = newFolder();
    const open = (name: string, closedBytesMax = Number.MAX_SAFE_INTEGER) => {
      const clock = systemClock;
      const vectors = openUsearch({ dimensionsOf: () => DIMENSIONS, clock, exactRowsMax: TAIL_ROWS_MAX });
      const onTrouble = () => {};
      return openIndexes({ vectors, folder: snapshotsDir, clock, closedBytesMax, onTrouble }).open(name);
    };
    const seal = async (name: string, closedBytesMax?: number) => {
      const index = open(name, closedBytesMax);
      const memory = aMemory({ text: "text" });
      const added = rows.slice(0, 1000).map((row) => ({ ...row, memory }));
      await index.add(added, mark(1000));
      while (filesIn(snapshotsDir, name).length < 3) await wait(10);
      await wait(50);
      return index;
    };
    const logs = () => readdirSync(snapshotsDir).sort();
    for (const name of ["i1", "i2", "i3"]) await (await seal(name)).close({ retainFiles: true });
    const bytes = filesIn(snapshotsDir).reduce((sum, path) => sum + statSync(path).size, 0);
    await open("i1").restore();
    const kept = [await seal("i4", 3.5 * bytes)];
    const become = (names: readonly string[]) =>
      vi.waitFor(() => expect(logs()).toEqual(names), { timeout: 5_000 });
    await become(["i1", "i3", "i4"]);
    // An index above the limit of all is kept nevertheless, alone.
    kept.push(await seal("i5", 1));
    await become(["i5"]);
    for (const index of kept) await index.close({ retainFiles: false });
  });

  it("of what was being sealed at a reset does not come back", async () => {
    const { index } = open();
    await index.add(rows);
    await index.reset();
    await index.add(rows);
    await index.settled();
    expect(index.size).toBe(rows.length);
    const found = await index.search({ vector: (rows[7] as Point).vector, limit: 20 });
    expect(new Set(found.map(({ sequence }) => sequence)).size).toBe(found.length);
  });

  it("of what was removed amid a reset, while searches went on, does not come back", async () => {
    const { index } = open(newFolder(), { sealingShare: Number.MIN_VALUE });
    await index.add(rows.slice(0, 600));
    await index.settled();
    await index.add(rows.slice(600, 1300));
    expect(index.rowCounts).toMatchObject({ tail: 700 });
    const searching = index.search({ vector: queries[0] as Float32Array, limit: 600 });
    const resetting = index.reset();
    await index.remove([7]);
    await Promise.all([searching, resetting]);
    await index.add(rows);
    await index.settled();
    expect(index.size).toBe(rows.length);
  });

  it("of another format is erased at the start, and what a crash left, but no other", async () => {
    const { index, snapshotsDir } = open();
    await index.add(rows);
    await index.settled();
    const paths = filesIn(snapshotsDir);
    cpSync(join(snapshotsDir, "i1"), join(snapshotsDir, "i2"), { recursive: true });
    const manifest = filesIn(snapshotsDir, "i2").find((path) => path.endsWith(".json")) as string;
    const [, json = ""] = readFileSync(manifest, "utf8").split("\n");
    const other = json.replace(/"format":\d+/, '"format":3').replaceAll("i1", "i2");
    expect(other).toContain('"format":3');
    writeFileSync(manifest, `${crc32(other)}\n${other}`);
    const left = [
      "i1.json",
      "0123456789abcdef.usearch",
      "0123456789abcdef.json.draft",
      "i3_0-9-12345678.keys",
    ];
    for (const name of left) writeFileSync(join(snapshotsDir, "i1", name), "x");
    await eraseUnreadable(snapshotsDir);
    expect(filesIn(snapshotsDir)).toEqual(paths);
    expect(filesIn(snapshotsDir, "i2")).toEqual([]);
    expect(await open(snapshotsDir).index.restore()).toEqual(whole(rows.length));
  });

  it("is gone after a reset", async () => {
    const { index, snapshotsDir } = open();
    await index.add(rows);
    await index.settled();
    await index.reset();
    expect(index.size).toBe(0);
    expect(manifestsIn(snapshotsDir)).toEqual([]);
  });
});
