import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { LogFiles } from "../../src/index/log-files.js";
import { LogIndex } from "../../src/index/log-index.js";
import { readRow, Segment } from "../../src/index/segment.js";
import { newPath, SegmentFile } from "../../src/index/segment-file.js";
import { aMemory } from "../contract/samples.js";
import { openUsearch } from "./vectors/built.js";

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof fs>();
  return { ...real, open: vi.fn(real.open), readFile: vi.fn(real.readFile), rm: vi.fn(real.rm) };
});

const LOG_ID = "0123456789abcdef";
const folder = mkdtempSync(join(tmpdir(), "recalld-too-many-"));
const vectors = openUsearch({ clock: systemClock, dimensionsOf: () => 4 });
afterAll(async () => {
  await vectors.close();
  rmSync(folder, { recursive: true });
});

function newIndex(): LogIndex {
  const onTrouble = (error: unknown) => expect(error).toBeUndefined();
  const files = new LogFiles({ folder, logId: LOG_ID, quietMs: 1, onTrouble });
  const options = { files, clock: systemClock, fileBytesMin: 1, onTrouble };
  return new LogIndex({ ...options, vectors: vectors.open(LOG_ID, files) });
}

test.each([
  ["open", (error: Error) => vi.mocked(fs.open).mockRejectedValueOnce(error)],
  ["readFile", (error: Error) => vi.mocked(fs.readFile).mockRejectedValueOnce(error)],
] as const)("no file of an index is erased because too many files are open: %s", async (_, failOnce) => {
  const first = newIndex();
  await first.add([{ sequence: 1, memory: aMemory({ text: "kept" }) }], { sequence: 1, opId: "one" });
  await first.close({ retainFiles: true });
  const before = readdirSync(folder);
  expect(before).toHaveLength(2);
  const busy = Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  failOnce(busy);
  const second = newIndex();
  await expect(second.restore()).rejects.toBe(busy);
  await second.close({ retainFiles: true });
  expect(readdirSync(folder)).toEqual(before);
  const third = newIndex();
  expect(await third.restore()).toMatchObject({ upto: 1, removed: [] });
  await third.reset();
  await third.close({ retainFiles: false });
});

test("an index is not lost by a removal from a file that could not be written", async () => {
  const troubles: unknown[] = [];
  const files = new LogFiles({ folder, logId: LOG_ID, onTrouble: (error) => void troubles.push(error) });
  const lost: unknown[] = [];
  files.onLost = (segment) => void lost.push(segment);
  const row = readRow({ sequence: 1, memory: aMemory({ text: "kept" }) });
  const segment = Segment.build({ after: 0, upto: 1 }, [row]);
  const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  vi.mocked(fs.open).mockRejectedValueOnce(full);
  const writing = files.write(segment, SegmentFile.from(segment, newPath(folder)));
  const removing = files.remove("words", [segment], [1]);
  await expect(writing).rejects.toBe(full);
  await removing;
  expect(troubles).toHaveLength(1);
  expect(lost).toEqual([]);
  await files.close({ retainFiles: false });
  expect(readdirSync(folder)).toEqual([]);
});

test("an index whose file can be neither overwritten nor erased is lost once it is erased, and refuses removals until then", async () => {
  const files = new LogFiles({ folder, logId: LOG_ID, onTrouble: () => {} });
  const lost: unknown[] = [];
  files.onLost = (segment) => void lost.push(segment);
  const rows = [1, 2, 3].map((sequence) => readRow({ sequence, memory: aMemory({ text: "kept" }) }));
  const segment = Segment.build({ after: 0, upto: 3 }, rows);
  await files.write(segment, SegmentFile.from(segment, newPath(folder)));
  const readOnly = Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" });
  vi.mocked(fs.open).mockRejectedValueOnce(readOnly);
  for (let i = 0; i < 2; i++) {
    vi.mocked(fs.rm).mockRejectedValueOnce(readOnly);
    const removing = files.remove("words", [segment], [i + 1]);
    await expect(removing).rejects.toThrow("could neither be overwritten nor erased");
    expect(lost).toEqual([]);
    expect(readdirSync(folder)).toHaveLength(2);
  }
  await files.remove("words", [segment], []);
  expect(lost).toEqual([segment]);
  expect(readdirSync(folder)).toEqual([]);
  await files.close({ retainFiles: false });
});
