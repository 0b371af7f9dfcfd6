import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Selection } from "../../../src/index/fields/selection.js";
import type { VectorRow } from "../../../src/index/vectors/chunk.js";
import { EXACT_ERROR, nearestInTail } from "../../../src/index/vectors/nearest-in-tail.js";
import { Tail } from "../../../src/index/vectors/tail.js";
import type { VectorPart } from "../../../src/index/vectors/usearch-index.js";
import type { Among } from "../../../src/memory/ports/index.js";
import { seeded } from "../../simulation/time.js";
import { openVectors, type VectorsOptions } from "./built.js";
import { cloud, dot, highest, pointOf } from "./clouds.js";

type Tested = Omit<VectorPart, "restore">;

const LIMIT = 20;
/** Difference of two similarities that counts as none: float32 computes them. */
const EQUAL = 1e-6;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function open(dimensions: number, options: Partial<VectorsOptions> = {}) {
  const snapshotsDir = mkdtempSync(join(tmpdir(), "recalld-exact-"));
  const usearch = openVectors({ dimensionsOf: () => dimensions, folder: snapshotsDir, ...options });
  const index = usearch.open("i1");
  closing.push(async () => {
    await index.close();
    await usearch.close();
    rmSync(snapshotsDir, { recursive: true, force: true });
  });
  return { usearch, index, snapshotsDir };
}

/** A memory, and the lengths of its vectors. */
interface Known extends VectorRow {
  readonly lengths: readonly number[];
}

/** The memories that an index should have. */
class Model {
  readonly rows = new Map<number, Known>();

  constructor(readonly index: Tested) {}

  async add(rows: readonly VectorRow[]): Promise<void> {
    for (const row of rows) this.rows.set(row.sequence, { lengths: row.vectors.map(lengthOf), ...row });
    await this.index.add(rows);
  }

  async remove(sequences: readonly number[]): Promise<void> {
    for (const sequence of sequences) this.rows.delete(sequence);
    await this.index.remove(sequences);
  }

  /** Expects the answer of brute force: the nearest memories, each with a right similarity, in order. */
  async expectExact(vector: Float32Array, { limit = LIMIT, among }: { limit?: number; among?: Among } = {}) {
    const length = lengthOf(vector);
    const cosine = ({ vectors, lengths }: Known, window: number) =>
      dot(vector, vectors[window] as Float32Array) / (length * (lengths[window] as number));
    const bestOf = (row: Known) => {
      let best = cosine(row, 0);
      for (let window = 1; window < row.vectors.length; window++) best = Math.max(best, cosine(row, window));
      return best;
    };
    const rows = [...this.rows.values()].filter(({ sequence }) => among?.has(sequence) ?? true);
    const scores = Float64Array.from(rows, bestOf);
    const truth = highest(scores, limit).map((at) => ({
      ...(rows[at] as Known),
      best: scores[at] as number,
    }));
    const hits = await this.index.search({ vector, limit, among });
    const first = new Map<number, number>();
    for (const [i, { sequence, window, similarity }] of hits.entries()) {
      const exact = cosine(this.rows.get(sequence) as Known, window);
      expect(Math.abs(similarity - exact)).toBeLessThan(EQUAL);
      expect(similarity).toBeLessThanOrEqual(hits[i - 1]?.similarity ?? 2);
      if (!first.has(sequence)) first.set(sequence, exact);
    }
    const found = [...first];
    expect(found).toHaveLength(Math.min(limit, rows.length));
    for (const [i, [sequence, exact]] of found.entries()) {
      const { best, sequence: right } = truth[i] as (typeof truth)[number];
      if (sequence !== right) expect(Math.abs(exact - best), `place ${i}`).toBeLessThan(EQUAL);
    }
  }
}

function lengthOf(vector: Float32Array): number {
  return Math.sqrt(dot(vector, vector));
}

function scattered(
  count: number,
  { dimensions, seed }: { dimensions: number; seed: number },
): Float32Array[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => {
    const vector = new Float32Array(dimensions);
    for (let i = 0; i < dimensions; i++) vector[i] = random() - 0.5;
    return vector;
  });
}

const vectorsOf = (count: number, cloudOptions: { dimensions: number; seed: number }) =>
  cloud(count, cloudOptions).map(({ vector }) => vector);

/** Makes memories of vectors: one in 50 has 20 of them. */
function memoriesOf(vectors: readonly Float32Array[]): VectorRow[] {
  const memories: VectorRow[] = [];
  for (let at = 0; at < vectors.length; ) {
    const sequence = memories.length + 1;
    const many = sequence % 50 === 0 ? 20 : 1;
    memories.push({ sequence, vectors: vectors.slice(at, at + many) });
    at += many;
  }
  return memories;
}

describe.each([8, 384])("an index of 19,500 vectors of %d dimensions", (dimensions) => {
  it.each([
    ["random", scattered],
    ["clustered", vectorsOf],
  ])("finds what brute force finds, %s, also after updates", { timeout: 120_000 }, async (_, make) => {
    const { index, snapshotsDir } = open(dimensions);
    const model = new Model(index);
    const memories = memoriesOf(make(19_500, { dimensions, seed: 1 }));
    const queries = [
      ...make(6, { dimensions, seed: 2 }),
      ...[7, 4_000].map((i) => memories[i]?.vectors[0] as Float32Array),
    ];
    for (let i = 0; i < memories.length; i += 1000) await model.add(memories.slice(i, i + 1000));
    for (const query of queries) await model.expectExact(query);
    for (const query of queries.slice(0, 2)) await model.expectExact(query, { limit: 1000 });
    const updated = memories.filter(({ sequence }) => sequence % 3 === 0).slice(0, 4_000);
    const fresh = make(updated.length, { dimensions, seed: 3 });
    for (let i = 0; i < updated.length; i += 500) {
      const some = updated.slice(i, i + 500);
      await model.add(some.map((_, j) => pointOf(100_000 + i + j, fresh[i + j] as Float32Array)));
      await model.remove(some.map(({ sequence }) => sequence));
    }
    for (const { sequence } of memories.slice(0, 200))
      if (model.rows.has(sequence)) await model.remove([sequence]);
    expect(index.size).toBe(model.rows.size);
    const living = [...model.rows.keys()];
    for (const query of queries) {
      await model.expectExact(query);
      for (const many of [2, 20, 2_000]) {
        const some = Float64Array.from(living.filter((sequence) => (sequence * 2_654_435_761) % many === 0));
        await model.expectExact(query, { among: Selection.from(some) });
      }
    }
    expect(index.error).toBe(EXACT_ERROR);
    await index.settled();
    expect(readdirSync(snapshotsDir)).toEqual([]);
  });
});

describe("an exact index", () => {
  const DIMENSIONS = 32;
  const [query] = vectorsOf(1, { dimensions: DIMENSIONS, seed: 9 }) as [Float32Array];
  const nearTo = (vector: Float32Array, noise: number, random: () => number) =>
    vector.map((x) => x + (random() - 0.5) * noise);

  it.each([0, 1e-6, 1e-4, 1e-2])("tells 6,000 vectors apart that differ by %d", async (noise) => {
    const random = seeded(5);
    const model = new Model(open(DIMENSIONS).index);
    await model.add(Array.from({ length: 6_000 }, (_, i) => pointOf(i + 1, nearTo(query, noise, random))));
    await model.add(cloud(6_000, { dimensions: DIMENSIONS, seed: 6, from: 10_001 }));
    await model.expectExact(query);
    await model.expectExact(query.map((x) => -x));
    await model.expectExact(nearTo(query, 0.1, random));
    const among = Selection.from(Float64Array.from({ length: 3_000 }, (_, i) => 2 * i + 1));
    await model.expectExact(query, { among });
  });

  it("finds the nearest of vectors that int8 cannot tell apart, because one number is large", async () => {
    const random = seeded(6);
    const spiked = () =>
      Float32Array.from({ length: DIMENSIONS }, (_, i) => (i === 3 ? 1 : random() * 0.003));
    const model = new Model(open(DIMENSIONS).index);
    await model.add(Array.from({ length: 9_000 }, (_, i) => pointOf(i + 1, spiked())));
    for (let i = 0; i < 5; i++) await model.expectExact(spiked());
  });

  it("finds the nearest though all cosines are negative, and removed ones are overwritten by zeros", async () => {
    const random = seeded(7);
    const model = new Model(open(DIMENSIONS).index);
    const away = () => query.map((x) => -x + (random() - 0.5) * 0.05);
    await model.add(Array.from({ length: 9_000 }, (_, i) => pointOf(i + 1, away())));
    await model.remove(Array.from({ length: 2_000 }, (_, i) => 4 * i + 1));
    await model.expectExact(query);
    await model.expectExact(query, { among: Selection.from(Float64Array.of(2, 5, 6, 7)) });
  });

  it("takes in memories in any order, as those that a restored database has again", async () => {
    const model = new Model(open(DIMENSIONS).index);
    const rows = cloud(3_000, { dimensions: DIMENSIONS, seed: 4 });
    await model.add([...rows.slice(1_000), ...rows.slice(0, 1_000).reverse()]);
    await model.remove([5, 999, 1_000, 1_001, 3_000]);
    await model.expectExact(query);
    await model.expectExact(query, {
      among: Selection.from(Float64Array.of(5, 998, 1_002, 2_999)),
    });
  });

  it("keeps its memory and what a search compares in proportion to what is left", async () => {
    const { index } = open(DIMENSIONS);
    const model = new Model(index);
    const rows = cloud(20_000, { dimensions: DIMENSIONS, seed: 4 });
    await model.add(rows);
    const full = index.bytes;
    expect(full).toBeGreaterThan(20_000 * DIMENSIONS * 5);
    await model.remove(rows.filter(({ sequence }) => sequence % 20 !== 0).map(({ sequence }) => sequence));
    expect(index.bytes).toBeLessThan(full / 5);
    await model.expectExact(query);
    await model.add(cloud(500, { dimensions: DIMENSIONS, seed: 8, from: 30_000 }));
    await model.remove([20, 30_000]);
    await model.expectExact(query);
  });
});

describe("an index that outgrows 20,480 vectors", () => {
  const DIMENSIONS = 8;
  const rows = cloud(20_481, { dimensions: DIMENSIONS, seed: 4 });
  const mark = { sequence: 20_481, opId: "op20481" };

  it("is sealed whole, stays sealed when it shrinks, and is restored", { timeout: 120_000 }, async () => {
    const { index, usearch, snapshotsDir } = open(DIMENSIONS);
    await index.add(rows.slice(0, 20_480));
    expect([index.error, readdirSync(snapshotsDir)]).toEqual([EXACT_ERROR, []]);
    await index.add(rows.slice(20_480));
    await index.settled();
    expect(index.error).toBeGreaterThan(EXACT_ERROR);
    await index.remove(rows.slice(0, 5_000).map(({ sequence }) => sequence));
    expect(index.error).toBeGreaterThan(EXACT_ERROR);
    await usearch.wipe("i1", [7]);
    await index.close();
    const again = usearch.open("i1");
    closing.push(() => again.close());
    expect(await again.restore()).toMatchObject(mark);
    expect(again.size).toBe(15_481);
    expect((await usearch.measureFiles("i1")).parts.vectors.upto).toBe(mark.sequence);
  });
});

describe("an index in memory", () => {
  const DIMENSIONS = 8;

  it("is exact whatever its size, has no files, and leaves those of the log's other index alone", async () => {
    const { usearch, index, snapshotsDir } = open(DIMENSIONS, { exactRowsMax: 100 });
    let lost = 0;
    index.onLost = () => lost++;
    const second = usearch.openUnsaved("i1");
    closing.push(() => second.close());
    const model = new Model(second);
    const rows = cloud(25_000, { dimensions: DIMENSIONS, seed: 4 });
    await model.add(rows);
    await model.remove([1, 2, 3]);
    expect(second.size).toBe(24_997);
    expect(second.bytes).toBeGreaterThan(25_000 * DIMENSIONS * 5);
    for (const { vector } of rows.slice(0, 3)) await model.expectExact(vector);
    await model.expectExact(rows[7]?.vector as Float32Array, {
      among: Selection.from(Float64Array.of(3, 4, 20_000)),
    });
    expect(readdirSync(snapshotsDir)).toEqual([]);
    expect(await usearch.holds("i1", [4])).toEqual([]);
    await usearch.wipe("i1", [4]);
    expect(second.size).toBe(24_997);
    await index.add(rows.slice(0, 200));
    await index.settled();
    const files = readdirSync(snapshotsDir);
    await second.reset();
    expect([second.size, index.size, lost]).toEqual([0, 200, 0]);
    expect(readdirSync(snapshotsDir)).toEqual(files);
    expect(second.fits([new Float32Array(DIMENSIONS)])).toBe(true);
    expect(second.fits([new Float32Array(DIMENSIONS + 1)])).toBe(false);
    await second.close();
    await expect(second.add(rows.slice(0, 1))).rejects.toThrow("closed");
  });
});

it("of vectors that are equally near, those of the oldest memories are found, whatever came before and was removed", async () => {
  const dimensions = 8;
  const [equal] = scattered(1, { dimensions, seed: 2 }) as [Float32Array];
  const others = scattered(3_000, { dimensions, seed: 1 });
  for (const removed of [0, 1_501, 2_500]) {
    const tail = new Tail(dimensions);
    for (const [i, other] of others.entries()) {
      const vectors = [i % 10 === 0 ? equal : other];
      tail.add({ sequence: i + 1, vectors });
    }
    tail.remove(Array.from({ length: removed }, (_, i) => i + 1));
    const hits = await nearestInTail(tail.chunks, { vector: equal, count: 20 });
    const first = Math.ceil(removed / 10) * 10 + 1;
    expect(hits.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 20 }, (_, i) => first + 10 * i),
    );
  }
});
