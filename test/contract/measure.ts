import { describe, expect, it } from "vitest";
import { chanceOf } from "../support/chance.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aMemory, anLogId, memories, nextOf } from "./samples.js";

/** Contract of every log about its size. */
export function measureContract(name: string, make: MakeDatabase): void {
  describe(`measuring logs: ${name}`, () => {
    const used = useDatabase(make);
    const log = () => used.storage.log;

    it("counts memories and the bytes of their texts and metadata, in this log only", async () => {
      const logId = anLogId();
      const entries = [aMemory({ text: "ß".repeat(10) }), aMemory({ text: "", metadata: '{"a":1}' })];
      await log().append({ logId, from: 1, entries });
      await log().append({ logId: `${logId}x`, from: 1, entries: memories(3) });
      expect(await log().measure({ logId })).toEqual({ memories: 2, bytes: 20 + 2 + 7 });
      expect(await log().measure({ logId: anLogId() })).toEqual({ memories: 0, bytes: 0 });
    });

    it("counts neither tombstones nor what was erased", async () => {
      const logId = anLogId();
      const entries = [aMemory({ text: "1234" }), aMemory(), { op: "delete", opId: "d", target: 2 } as const];
      await log().append({ logId, from: 1, entries });
      await log().erase({ logId, sequences: [2] });
      expect(await log().measure({ logId })).toEqual({ memories: 1, bytes: 6 });
      await log().erase({ logId, sequences: [1, 2] });
      expect(await log().measure({ logId })).toEqual({ memories: 0, bytes: 0 });
    });

    it("counts a memory once, however many versions it had", async () => {
      const logId = anLogId();
      const first = aMemory({ text: "1234" });
      await log().append({ logId, from: 1, entries: [first, nextOf(first, 1, { text: "12" })] });
      await log().erase({ logId, sequences: [1] });
      expect(await log().measure({ logId })).toEqual({ memories: 1, bytes: 4 });
      await log().erase({ logId, sequences: [2] });
      expect(await log().measure({ logId })).toEqual({ memories: 0, bytes: 0 });
    });

    it("knows after every write, and after a restart, what is there", async () => {
      const logId = anLogId();
      const chance = chanceOf(3);
      const well = new Map<number, number>();
      const expected = () => {
        return { memories: well.size, bytes: [...well.values()].reduce((sum, bytes) => sum + bytes, 0) };
      };
      for (let round = 0, next = 1; round < 30; round++) {
        const entries = Array.from({ length: 1 + chance.below(4) }, () =>
          aMemory({ text: "x".repeat(chance.below(50)) }),
        );
        await log().append({ logId, from: next, entries });
        // The number is taken, so nothing is written and nothing counted.
        await log().append({ logId, from: chance.below(next) + 1, entries: memories(2) });
        for (const { text } of entries) well.set(next++, text.length + 2);
        const gone = [chance.below(next), chance.below(next)];
        await log().erase({ logId, sequences: gone });
        for (const sequence of gone) well.delete(sequence);
        if (round % 10 === 0) await used.reopen();
        expect(await log().measure({ logId })).toEqual(expected());
      }
    });

    it("counts more than it looks at in one go", async () => {
      const logId = anLogId();
      const entries = Array.from({ length: 2048 }, () =>
        aMemory({ text: "12", vectors: new Float32Array(1) }),
      );
      await log().append({ logId, from: 1, entries });
      expect(await log().measure({ logId })).toEqual({ memories: 2048, bytes: 2048 * 4 });
    });
  });
}
