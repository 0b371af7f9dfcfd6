import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { WorkerClient } from "../../../dist/src/concurrency/worker-client.js";
import { SegmentFile } from "../../../dist/src/index/segment-file.js";
import { filesIn, openVectors, type VectorsWithFiles } from "./built.js";
import { bf16, cloud, type Point } from "./clouds.js";

// A delete overwrites the vector in the snapshot's file, so that the file need not be rebuilt.

const DIMENSIONS = 32;
const rows = cloud(1500, { dimensions: DIMENSIONS });
const long = {
  sequence: 2000,
  opId: "op2000",
  vectors: cloud(40, { dimensions: DIMENSIONS, seed: 3 }).map((p) => p.vector),
};
const MARK = { sequence: 2000, opId: "op2000" };

/** What a process has saved. Each test has a copy. */
let saved: string;
let folder: string;
const opened: VectorsWithFiles[] = [];
beforeAll(async () => {
  saved = mkdtempSync(join(tmpdir(), "recalld-wiping-"));
  const index = open(saved).open("i1");
  await index.add([...rows, long]);
  await index.settled();
  await index.close();
});
afterAll(() => rmSync(saved, { recursive: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recalld-wiping-"));
  cpSync(saved, folder, { recursive: true });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((index) => index.close()));
  rmSync(folder, { recursive: true });
});

/** Opens what a process has that has just started. */
const open = (snapshotsDir = folder) =>
  openVectors({
    dimensionsOf: () => DIMENSIONS,
    folder: snapshotsDir,
    exactRowsMax: 100,
    tailRowsMax: 100,
    sealingShare: Number.POSITIVE_INFINITY,
  });
const openIndex = (vectors = open()) => {
  const index = vectors.open("i1");
  opened.push(index);
  return index;
};
const path = (ending: string, dir = folder) =>
  filesIn(dir).find((each) => each.endsWith(ending)) ?? "missing";
const vectorOf = (sequence: number) => (rows[sequence - 1] as Point).vector;
const isStored = (vector: Float32Array, dir = folder) =>
  filesIn(dir).some((each) => readFileSync(each).includes(bf16(vector)));

async function expectNotFound(index: VectorsWithFiles, sequences: readonly number[]): Promise<void> {
  for (const sequence of sequences) {
    const vector = sequence === long.sequence ? long.vectors[3] : vectorOf(sequence);
    const found = await index.search({ vector: vector as Float32Array, limit: 20 });
    expect(new Set(found.map((hit) => hit.sequence)).size).toBeGreaterThanOrEqual(20);
    expect(found.filter((hit) => hit.sequence === sequence)).toEqual([]);
  }
}

describe("wiping vectors in a snapshot", () => {
  it("leaves none of their bytes, and all else, whether the index is open or not", async () => {
    for (const sequence of [7, 8, 900]) expect(isStored(vectorOf(sequence))).toBe(true);
    await open().wipe("i1", [7, 2000, 4711]);
    const vectors = open();
    const index = openIndex(vectors);
    expect(await index.restore()).toEqual({ ...MARK, wiped: [7, 2000] });
    await index.remove([8]);
    await vectors.wipe("i1", [8]);
    for (const vector of [vectorOf(7), vectorOf(8), ...long.vectors]) expect(isStored(vector)).toBe(false);
    for (const { sequence, vector } of rows.slice(8)) expect(isStored(vector), `${sequence}`).toBe(true);
    expect(index.size).toBe(1498);
    await expectNotFound(index, [7, 8, 2000]);
  });

  it("is known at the next start, however often", async () => {
    await open().wipe("i1", [1, 2, 3]);
    await open().wipe("i1", [2, 3, 4]);
    for (let start = 0; start < 2; start++) {
      const index = openIndex();
      // Its manifest tells it from the first close on.
      expect(await index.restore()).toEqual({ ...MARK, wiped: start === 0 ? [1, 2, 3, 4] : [] });
      expect(index.size).toBe(1497);
      await expectNotFound(index, [1, 2, 3, 4]);
      expect((await index.search({ vector: vectorOf(5), limit: 1 }))[0]?.sequence).toBe(5);
      await index.close();
    }
  });

  it("makes room for what comes next, which is found, and is in the next snapshot", async () => {
    const gone = rows.slice(0, 400).map(({ sequence }) => sequence);
    await open().wipe("i1", gone);
    const index = openIndex();
    await index.restore();
    const more = cloud(300, { dimensions: DIMENSIONS, seed: 9, from: 3001 });
    await index.add(more);
    await index.remove([500]);
    expect(index.size).toBe(1501 - 400 + 300 - 1);
    await index.settled();
    await index.close();
    const again = openIndex();
    expect(await again.restore()).toEqual({ sequence: 3300, opId: "op3300", wiped: [] });
    expect(again.size).toBe(1400);
    for (const { sequence, vector } of more) {
      expect((await again.search({ vector, limit: 1 }))[0]?.sequence).toBe(sequence);
    }
    await expectNotFound(again, [...gone.slice(0, 50), 500]);
    expect(isStored(vectorOf(500))).toBe(false);
  });

  it("leaves next to nothing of a segment of which all memories were removed, and takes in others behind it", async () => {
    const vectors = open();
    const index = openIndex(vectors);
    await index.restore();
    const before = index.bytes;
    await index.remove([...rows.map(({ sequence }) => sequence), long.sequence]);
    await index.settled();
    expect(index.size).toBe(0);
    expect(index.rowCounts).toMatchObject({ removed: 0 });
    expect(index.bytes).toBeLessThan(before / 10);
    const more = cloud(300, { dimensions: DIMENSIONS, seed: 9, from: 3001 });
    await index.add(more);
    await index.settled();
    await index.close();
    expect(await vectors.countUnusable("i1")).toBe(0);
    const again = openIndex();
    expect(await again.restore()).toEqual({ sequence: 3300, opId: "op3300", wiped: [] });
    expect(again.size).toBe(300);
    const [first] = more as [Point];
    expect((await again.search({ vector: first.vector, limit: 1 }))[0]?.sequence).toBe(3001);
  });

  it("tells which vectors a snapshot holds", async () => {
    const vectors = open();
    await vectors.wipe("i1", [3]);
    expect(await vectors.holds("i1", [1, 3, 1501, 2000])).toEqual([1, 2000]);
    expect(await vectors.holds("nobody", [1])).toEqual([]);
  });

  it("tells of a snapshot whose graph is damaged", async () => {
    const vectors = open();
    expect(await vectors.countUnusable("i1")).toBe(0);
    const bytes = readFileSync(path(".usearch"));
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    writeFileSync(path(".usearch"), bytes);
    expect(await vectors.countUnusable("i1")).toBe(1);
  });

  it.each([".usearch", ".segment"])(
    "does not count on a snapshot whose file has lost its end: %s",
    async (ending) => {
      const vectors = open();
      const { rows: counted } = (await vectors.measureFiles("i1")).parts.vectors;
      expect(counted).toBeGreaterThan(0);
      truncateSync(path(ending), statSync(path(ending)).size - 1);
      expect((await vectors.measureFiles("i1")).parts.vectors).toEqual({ upto: 0, rows: 0, removed: 0 });
      rmSync(path(ending));
      expect((await vectors.measureFiles("i1")).parts.vectors).toEqual({ upto: 0, rows: 0, removed: 0 });
    },
  );

  it("reaches files that are being written", async () => {
    const vectors = open();
    const index = openIndex(vectors);
    await index.restore();
    const gone = rows.slice(0, 600).map(({ sequence }) => sequence);
    // So many gaps have the segment built anew.
    await index.remove(gone);
    await Promise.all([index.remove([900]), vectors.wipe("i1", [900]), index.settled()]);
    for (const sequence of [...gone, 900]) expect(isStored(vectorOf(sequence)), `${sequence}`).toBe(false);
    await expectNotFound(index, [1, 600, 900]);
    const again = openIndex();
    expect(await again.restore()).toMatchObject(MARK);
    expect(again.size).toBe(900);
  });

  it("is done before a manifest vouches for a file in which they were when they were removed", async () => {
    rmSync(folder, { recursive: true });
    const index = openIndex();
    const vector = vectorOf(7);
    const { call } = WorkerClient.prototype;
    const calling = vi.spyOn(WorkerClient.prototype, "call").mockImplementation(async function (
      this: typeof WorkerClient.prototype,
      ...asked
    ) {
      const answer = await call.apply(this, asked);
      if (asked[0] === "write") void index.remove([7]);
      return answer;
    });
    const stored: boolean[] = [];
    const { publish } = SegmentFile.prototype;
    const publishing = vi.spyOn(SegmentFile.prototype, "publish").mockImplementation(async function (
      this: typeof SegmentFile.prototype,
      manifest,
    ) {
      stored.push(isStored(vector));
      return publish.call(this, manifest);
    });
    try {
      await index.add(rows);
      await index.settled();
      expect(stored[0]).toBe(false);
    } finally {
      calling.mockRestore();
      publishing.mockRestore();
    }
  });
});

describe("a process that dies while it wipes", () => {
  let before: string;
  let after: string;
  beforeEach(async () => {
    await open().wipe("i1", [20]);
    before = `${folder}-before`;
    cpSync(folder, before, { recursive: true });
    await open().wipe("i1", [1, 2, 2000]);
    after = `${folder}-after`;
    cpSync(folder, after, { recursive: true });
  });
  afterEach(() => {
    for (const dir of [before, after]) rmSync(dir, { recursive: true });
  });

  async function expectWhole(wiped: readonly number[]): Promise<void> {
    const index = openIndex();
    expect(await index.restore()).toEqual({ ...MARK, wiped });
    await expectNotFound(index, wiped);
    for (const sequence of wiped) {
      if (sequence !== long.sequence) expect(isStored(vectorOf(sequence))).toBe(false);
    }
  }

  it("before anything is overwritten has wiped nothing", async () => {
    for (const ending of [".usearch", ".segment"]) copyFileSync(path(ending, before), path(ending));
    await expectWhole([20]);
    await open().wipe("i1", [1]);
    await expectWhole([1, 20]);
  });

  it("before the vectors are overwritten is finished by the next start", async () => {
    copyFileSync(path(".usearch", before), path(".usearch"));
    await expectWhole([1, 2, 20, 2000]);
  });

  it("before the vectors are overwritten is finished by whoever wipes them again, also if nobody opens the index", async () => {
    copyFileSync(path(".usearch", before), path(".usearch"));
    expect(isStored(vectorOf(1))).toBe(true);
    await open().wipe("i1", [1, 2, 2000]);
    for (const vector of [vectorOf(1), vectorOf(2), ...long.vectors]) expect(isStored(vector)).toBe(false);
  });

  it.each([1, 500, 4_095])(
    "behind %d bytes of the segment's file leaves nothing that is trusted",
    async (count) => {
      const [old, young] = [before, after].map((dir) => readFileSync(path(".segment", dir))) as [
        Buffer,
        Buffer,
      ];
      copyFileSync(path(".usearch", before), path(".usearch"));
      // The first block has the bits of what lives, and its checksum stands behind all blocks.
      writeFileSync(path(".segment"), Buffer.concat([young.subarray(0, count), old.subarray(count)]));
      const isWhole = young.subarray(0, count).equals(old.subarray(0, count));
      if (isWhole) return expectWhole([20]);
      expect(await openIndex().restore()).toBeUndefined();
      expect(filesIn(folder)).toEqual([]);
    },
  );

  it.each([1, 8, 63, 64, 65, 100])("behind %d bytes of them is finished too", async (count) => {
    // The rows of 1 and 2 are the file's first.
    const bytes = readFileSync(path(".usearch", before));
    bytes.fill(0, 8, 8 + count);
    writeFileSync(path(".usearch"), bytes);
    await expectWhole([1, 2, 20, 2000]);
  });

  it("and whose disk lost what lives leaves nothing that is trusted", async () => {
    copyFileSync(path(".segment", before), path(".segment"));
    expect(await openIndex().restore()).toBeUndefined();
    expect(filesIn(folder)).toEqual([]);
  });
});

describe("a snapshot in which a vector cannot be wiped", () => {
  it("is erased, and that is told", async () => {
    const vectors = open();
    const index = openIndex(vectors);
    let lost = 0;
    index.onLost = () => lost++;
    await index.restore();
    // A folder stands where the file was.
    const name = path(".usearch");
    rmSync(name);
    mkdirSync(name);
    await vectors.wipe("i1", [5]).catch(() => {});
    rmSync(name, { recursive: true });
    await vectors.wipe("i1", [6]);
    expect(filesIn(folder)).toEqual([]);
    expect(lost).toBe(1);
  });

  it.each([
    ["its bits and keys are damaged", ".segment", 200],
    ["its manifest is damaged", ".json", 100],
  ])("is erased, or not used, where no index is open: %s", async (_, ending, at) => {
    const bytes = readFileSync(path(ending));
    bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(path(ending), bytes);
    await open().wipe("i1", [5]);
    expect(await openIndex().restore()).toBeUndefined();
    expect(filesIn(folder)).toEqual([]);
  });
});
