import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { LogFiles } from "../../src/index/log-files.js";
import { LogIndex } from "../../src/index/log-index.js";
import { openIndexes } from "../../src/index/open.js";
import { encodeBits, findSegments, newPath, SegmentFile } from "../../src/index/segment-file.js";
import type { IndexRow } from "../../src/memory/ports/index.js";
import { aMemory } from "../contract/samples.js";
import { openUsearch } from "./vectors/built.js";

const LOG_ID = "0123456789abcdef";
const ROWS = 2_000;
const GONE = 1_000;
const BLOCK_BYTES = 4_096;

const folder = mkdtempSync(join(tmpdir(), "recalld-torn-"));
const vectors = openUsearch({ clock: systemClock, dimensionsOf: () => 4 });
afterAll(async () => {
  await vectors.close();
  rmSync(folder, { recursive: true });
});

/** Memories that share words and values, so that removing one moves those of others in several blocks. */
const rows: readonly IndexRow[] = Array.from({ length: ROWS }, (_, i) => ({
  sequence: i + 1,
  memory: aMemory({
    id: `mem_${i}`,
    text: `all of them have this word${i % 7} and only one has unique${i}`,
    metadata: JSON.stringify({ color: `color${i % 5}`, own: `own${i}` }),
  }),
}));

function indexIn(dir: string) {
  const troubles: unknown[] = [];
  const own = {
    folder: join(dir, LOG_ID),
    logId: LOG_ID,
    clock: systemClock,
    fileBytesMin: 1,
    quietMs: 1,
    onTrouble: (error: unknown) => void troubles.push(error),
  };
  const files = new LogFiles(own);
  return { index: new LogIndex({ ...own, vectors: vectors.open(LOG_ID, files), files }), troubles };
}

/** Writes the files of an index with all memories. */
async function fill(dir: string): Promise<void> {
  const { index, troubles } = indexIn(dir);
  await index.add(rows, { sequence: ROWS, opId: "last" });
  // Whatever is merged is merged now.
  await index.settled();
  await index.close({ retainFiles: true });
  expect(troubles).toEqual([]);
}

/** Reads the files of an index, the segment's apart from its manifest. */
function filesIn(dir: string): { name: string; bytes: Buffer }[] {
  const names = readdirSync(join(dir, LOG_ID)).sort();
  return names.map((name) => ({ name, bytes: readFileSync(join(dir, LOG_ID, name)) }));
}

test("a file is built anew if a process died between any two writes of an overwriting", async () => {
  const dir = join(folder, "whole");
  await fill(dir);
  const before = filesIn(dir);
  const second = indexIn(dir);
  expect(await second.index.restore()).toMatchObject({ upto: ROWS, removed: [] });
  await second.index.remove([GONE]);
  const after = filesIn(dir);
  await second.index.close({ retainFiles: true });
  expect(second.troubles).toEqual([]);

  const nowOf = (name: string) => after.find((file) => file.name === name)?.bytes;
  const segment = before.findIndex(
    ({ name, bytes }) => name.endsWith(".segment") && nowOf(name)?.equals(bytes) === false,
  );
  const { name: changed, bytes: old } = before[segment] as { name: string; bytes: Buffer };
  const writes = writesBetween(old, nowOf(changed) as Buffer);
  expect(writes.length).toBeGreaterThan(8);
  for (let done = 0; done <= writes.length; done++) {
    const torn = Buffer.from(old);
    for (const { at, bytes } of writes.slice(0, done)) torn.set(bytes, at);
    const copy = join(folder, `torn${done}`);
    mkdirSync(join(copy, LOG_ID), { recursive: true });
    for (const [i, { name, bytes }] of before.entries())
      writeFileSync(join(copy, LOG_ID, name), i === segment ? torn : bytes);
    const third = indexIn(copy);
    const restored = await third.index.restore();
    if (done === 0) expect(restored).toMatchObject({ removed: [] });
    else if (done === writes.length) expect(restored).toMatchObject({ removed: [GONE] });
    // Nothing of it is trusted, and nothing is left.
    else expect(readdirSync(join(copy, LOG_ID))).not.toContain(changed);
    await third.index.close({ retainFiles: false });
  }
});

test("what was removed while others' removals were written is in no file in part, with checksums that are right", async () => {
  const a = new Uint8Array(64 * BLOCK_BYTES);
  const live = Uint32Array.of(0);
  const segment = { part: "words", range: { after: 0, upto: 1 }, rows: 1, arrays: { a, live } } as const;
  const filed = { ...segment, remove: () => false, removedSince: () => [] };
  const dir = join(folder, "mixed", LOG_ID);
  const file = SegmentFile.from(filed, newPath(dir));
  await file.write();
  const { range, part, rows } = segment;
  const applied = { sequence: 1, opId: "last" };
  await file.publish({ ...range, part, rows, logId: LOG_ID, applied, expiredMs: 0, lived: encodeBits(live) });
  /** Changes every other block, so that each is written by itself. */
  const change = (value: number) => {
    const ranges = [];
    for (let from = 0; from < a.length; from += 2 * BLOCK_BYTES) {
      a[from] = value;
      ranges.push({ array: a, from, to: from + 1 });
    }
    return file.overwrite({ ranges, rows: [] });
  };
  let whole = 0;
  for (let iterations = 0; iterations < 40; iterations++) {
    const first = change(2 * iterations + 1);
    for (let i = 0; i < iterations; i++) await setImmediate();
    const second = change(2 * iterations + 2);
    await first;
    const copy = join(folder, "mixed", `copy${iterations}`);
    cpSync(dir, copy, { recursive: true });
    await second;
    const [found] = await findSegments(copy, LOG_ID);
    const read = found && (await SegmentFile.read<{ a: Uint8Array }>(found, systemClock));
    if (read === undefined) continue;
    whole++;
    const values = new Set(read.arrays.a.filter((_, i) => i % (2 * BLOCK_BYTES) === 0));
    expect([...values]).toHaveLength(1);
  }
  expect(whole).toBeGreaterThan(0);
});

test("a removal waits for what others have begun to overwrite: a delete that comes twice is answered once it is done", async () => {
  const dir = join(folder, "twice");
  await fill(dir);
  const { index, troubles } = indexIn(dir);
  await index.restore();
  const segments = () => filesIn(dir).filter(({ name }) => name.endsWith(".segment"));
  const before = segments();
  const first = index.remove([GONE]);
  await index.remove([GONE]);
  const between = segments();
  await first;
  expect(between).toEqual(segments());
  expect(between).not.toEqual(before);
  await index.close({ retainFiles: true });
  expect(troubles).toEqual([]);
});

test("files of two replicas in one folder are read without the memories that others of them have", async () => {
  const dirOf = (first: number) => join(folder, `cut${first}`);
  // No slice of work is ever over, so what is added at once is one segment.
  vi.spyOn(performance, "now").mockReturnValue(0);
  for (const first of [1_300, 1_200]) {
    const { index } = indexIn(dirOf(first));
    await index.add(rows.slice(0, first), { sequence: first, opId: `op${first}` });
    await index.settled();
    await index.add(rows.slice(first, 1_500), { sequence: 1_500, opId: "last" });
    await index.settled();
    await index.close({ retainFiles: true });
  }
  vi.restoreAllMocks();
  cpSync(dirOf(1_200), dirOf(1_300), { recursive: true });
  const { index } = indexIn(dirOf(1_300));
  expect(await index.restore()).toMatchObject({ upto: 1_500 });
  for (let { gap } = index; gap !== undefined; { gap } = index) {
    await index.fill(rows.slice(gap.after, gap.upto), gap.upto);
  }
  expect(index.size).toBe(1_500);
  await index.close({ retainFiles: false });
});

test("the logs that have files are listed though the folder of one vanishes meanwhile", async () => {
  const dir = join(folder, "listed");
  mkdirSync(join(dir, LOG_ID), { recursive: true });
  // As a folder that is erased between the two looks, it has a name, but is nowhere.
  symlinkSync(join(dir, "nowhere"), join(dir, "vanished"));
  const clock = systemClock;
  const indexes = openIndexes({ vectors, folder: dir, clock, onTrouble: () => {} });
  expect(await indexes.stored()).toEqual([LOG_ID]);
});

test("a memory is removed from files that nobody reads, too, because their manifest is damaged", async () => {
  const dir = join(folder, "unread");
  await fill(dir);
  const inFolder = () => Buffer.concat(filesIn(dir).map(({ bytes }) => bytes)).includes(`own${GONE}`);
  for (const { name } of filesIn(dir)) if (name.endsWith(".json")) writeFileSync(join(dir, LOG_ID, name), "");
  expect(inFolder()).toBe(true);
  const clock = systemClock;
  await openIndexes({ vectors, folder: dir, clock, onTrouble: () => {} }).wipe(LOG_ID, [GONE + 1]);
  expect(inFolder()).toBe(false);
});

test("memories are removed though somebody has removed the folder of the files", async () => {
  const dir = join(folder, "vanished");
  await fill(dir);
  const { index, troubles } = indexIn(dir);
  await index.restore();
  rmSync(join(dir, LOG_ID), { recursive: true });
  await index.remove([GONE]);
  expect(troubles).toMatchObject([{ code: "ENOENT" }]);
  await index.remove([GONE + 1]);
  await index.close({ retainFiles: true });
});

/** What an overwriting has written, in order: each block with its checksum, and last the checksum of all. */
function writesBetween(old: Buffer, now: Buffer): { at: number; bytes: Buffer }[] {
  const blocks = Math.floor((old.length - 4) / (BLOCK_BYTES + 4));
  const writes: { at: number; bytes: Buffer }[] = [];
  const write = (at: number, length: number) => {
    const bytes = now.subarray(at, at + length);
    if (!bytes.equals(old.subarray(at, at + length))) writes.push({ at, bytes });
  };
  for (let i = 0; i < blocks; i++) {
    write(i * BLOCK_BYTES, BLOCK_BYTES);
    write(blocks * BLOCK_BYTES + i * 4, 4);
  }
  write(blocks * (BLOCK_BYTES + 4), 4);
  return writes;
}
