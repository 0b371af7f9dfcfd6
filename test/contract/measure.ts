import { describe, expect, it } from "vitest";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aMemory, anIncarnation, memories } from "./samples.js";

/** What every log knows about how much is in it. */
export function measureContract(name: string, make: MakeDatabase): void {
  describe(`measuring logs: ${name}`, () => {
    const used = useDatabase(make);
    const log = () => used.storage.log;

    it("counts memories and the bytes of their texts and metadata, in this incarnation only", async () => {
      const incarnation = anIncarnation();
      const entries = [aMemory({ text: "ß".repeat(10) }), aMemory({ text: "", metadata: '{"a":1}' })];
      await log().append({ incarnation, from: 1, entries });
      await log().append({ incarnation: `${incarnation}x`, from: 1, entries: memories(3) });
      expect(await log().measure({ incarnation })).toEqual({ memories: 2, bytes: 20 + 2 + 7 });
      expect(await log().measure({ incarnation: anIncarnation() })).toEqual({ memories: 0, bytes: 0 });
      expect(await log().count({ incarnation })).toBe(2);
      expect(await log().count({ incarnation: anIncarnation() })).toBe(0);
    });

    it("counts neither tombstones nor what was erased", async () => {
      const incarnation = anIncarnation();
      const entries = [aMemory({ text: "1234" }), aMemory(), { op: "delete", opId: "d", target: 2 } as const];
      await log().append({ incarnation, from: 1, entries });
      await log().erase({ incarnation, sequences: [2] });
      expect(await log().measure({ incarnation })).toEqual({ memories: 1, bytes: 6 });
      expect(await log().count({ incarnation })).toBe(1);
      await log().erase({ incarnation, sequences: [1, 2] });
      expect(await log().measure({ incarnation })).toEqual({ memories: 0, bytes: 0 });
    });

    it("counts more than it looks at in one go", async () => {
      const incarnation = anIncarnation();
      const entries = Array.from({ length: 2048 }, () =>
        aMemory({ text: "12", vectors: new Float32Array(1) }),
      );
      await log().append({ incarnation, from: 1, entries });
      expect(await log().measure({ incarnation })).toEqual({ memories: 2048, bytes: 2048 * 4 });
      expect(await log().count({ incarnation })).toBe(2048);
    });
  });
}
