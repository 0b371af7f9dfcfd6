import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SLICE_BYTES_MAX, weightOf } from "../../src/memory/ports/bounds.js";
import type { Projection } from "../../src/memory/ports/log.js";
import { project } from "../support/project.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aMemory, anLogId, entriesOf, memories, memoriesOf } from "./samples.js";

/** Makes a memory of about a megabyte and a half, nearly all of it vectors. */
const aHeavyOne = () => {
  const windows = Array.from({ length: 1000 }, (_, i) => ({ start: i, end: i + 1 }));
  return aMemory({ text: "#".repeat(65_536), vectors: new Float32Array(384_000).fill(0.05), windows });
};

/** Sums up the weights of a slice's entries without the one that fills it. */
const withoutLast = (weights: readonly number[]) => weights.slice(0, -1).reduce((sum, each) => sum + each, 0);

/** Contract of every log about slices: no read is larger than one. */
export function slicesContract(name: string, make: MakeDatabase): void {
  describe(`slices of logs: ${name}`, () => {
    const used = useDatabase(make);
    const log = () => used.storage.log;
    const projections: Projection[] = ["all", "text", "vectors", "header"];

    it.each(projections)("reads of each memory no more than is asked for: %s", async (projection) => {
      const logId = anLogId();
      const entries = [aMemory({ windows: [{ start: 0, end: 9 }] }), aMemory()];
      await log().append({ logId, from: 1, entries: [...entries, { op: "drop", opId: "d" }] });
      const read = await entriesOf(log(), { logId, from: 1, limit: 10, projection });
      const asked = entries.map((entry) => project(entry, projection));
      expect(read.map(({ entry }) => entry)).toEqual([...asked, { op: "drop", opId: "d" }]);
      const fetched = await memoriesOf(log(), { logId, sequences: [1, 2, 3], projection });
      expect(fetched.map(({ entry }) => entry)).toEqual(asked.toReversed());
    });

    it("finds one that is asked for, also when the process is late all the time", async () => {
      const logId = anLogId();
      await log().append({ logId, from: 1, entries: [...memories(3), { op: "drop", opId: "d" }] });
      let ms = performance.now();
      const late = vi.spyOn(performance, "now").mockImplementation(() => (ms += 100));
      onTestFinished(() => late.mockRestore());
      for (const projection of projections) {
        const { found } = await log().fetch({ logId, sequences: [2], projection });
        expect(found.map(({ sequence }) => sequence)).toEqual([2]);
        const { entries } = await log().read({ logId, from: 2, limit: 1, projection });
        expect(entries.map(({ sequence }) => sequence)).toEqual([2]);
        // A slice of entries that are no memories, such as the last one, finds none.
        const all = await memoriesOf(log(), { logId, sequences: [1, 2, 3, 4], projection });
        expect(all.map(({ sequence }) => sequence)).toEqual([3, 2, 1]);
      }
    });

    it("says whether these were all", async () => {
      const logId = anLogId();
      await log().append({ logId, from: 1, entries: memories(100) });
      const read = (from: number, limit: number) => log().read({ logId, from, limit, projection: "header" });
      for (const limit of [1, 50, 99, 100]) expect(await read(1, limit)).toMatchObject({ complete: false });
      for (const limit of [1, 50, 101, 1000]) {
        let from = 1;
        for (let complete = false; !complete; ) {
          const slice = await read(from, limit);
          complete = slice.complete;
          expect(complete || slice.entries.length > 0).toBe(true);
          from += slice.entries.length;
        }
        expect(from).toBe(101);
      }
      expect(await read(101, 1)).toEqual({ entries: [], complete: true });
    });

    it("appends more than a slice in order, and stops at the first number that is taken", async () => {
      const logId = anLogId();
      const heavy = Array.from({ length: 8 }, aHeavyOne);
      expect(await log().append({ logId, from: 1, entries: heavy })).toBe(8);
      expect(await log().append({ logId, from: 8, entries: heavy })).toBe(0);
      const other = anLogId();
      await log().append({ logId: other, from: 6, entries: memories(1) });
      expect(await log().append({ logId: other, from: 1, entries: heavy })).toBe(5);
      const all = await entriesOf(log(), { logId, from: 1, limit: 100 });
      expect(all.map(({ entry }) => entry.opId)).toEqual(heavy.map(({ opId }) => opId));
    });

    it("ends a read with the entry that fills a slice, however many follow", async () => {
      const logId = anLogId();
      for (let from = 1; from <= 15; from += 3) {
        await log().append({ logId, from, entries: [aHeavyOne(), aHeavyOne(), aMemory()] });
      }
      const { entries, complete } = await log().read({ logId, from: 1, limit: 512, projection: "vectors" });
      const weights = entries.map(({ entry }) => weightOf(entry));
      expect(complete).toBe(false);
      expect(Math.max(...weights)).toBeGreaterThan(1_500_000);
      expect(withoutLast(weights)).toBeLessThan(SLICE_BYTES_MAX);
      const all = await entriesOf(log(), { logId, from: 1, limit: 512 });
      expect(all.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 15 }, (_, i) => i + 1));
    });

    it("fetches from the highest number down, a slice at a time", async () => {
      const logId = anLogId();
      for (let from = 1; from <= 12; from += 3) {
        await log().append({ logId, from, entries: [aHeavyOne(), aMemory(), aHeavyOne()] });
      }
      await log().erase({ logId, sequences: [2] });
      const sequences = [3, 1, 12, 2, 11, 4, 7, 5, 6, 10, 9, 8];
      const { found, rest } = await log().fetch({ logId, sequences, projection: "vectors" });
      const weights = found.map(({ entry }) => weightOf(entry));
      expect(withoutLast(weights)).toBeLessThan(SLICE_BYTES_MAX);
      expect(found[0]?.sequence).toBe(12);
      expect(Math.max(...rest)).toBeLessThan(found.at(-1)?.sequence as number);
      const all = await memoriesOf(log(), { logId, sequences: [99, ...sequences] });
      expect(all.map(({ sequence }) => sequence)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 1]);
    });
  });
}
