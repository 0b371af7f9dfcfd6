import { describe, expect, it } from "vitest";
import { type MakeDatabase, useDatabase } from "./database.js";

/** Contract of every adapter of the port `SystemRecords`. */
export function systemRecordsContract(name: string, make: MakeDatabase): void {
  describe(`system records: ${name}`, () => {
    const used = useDatabase(make);
    const pinnedAs = (modelVersion: string, id: string) => ({
      modelVersion,
      model: {
        id,
        revision: "ab".repeat(32),
        dtype: "q8",
        dimensions: 384,
        pooling: "cls",
        passagePrefix: "passage: ",
      },
    });

    it("has no model at first, and pins none after one that is not there", async () => {
      const { systemRecords } = used.storage;
      expect(await systemRecords.pin({ after: "e1", to: pinnedAs("e2", "m") })).toBe(false);
      expect(await systemRecords.models()).toEqual([]);
    });

    it("pins one first model of 20 that come at once, for good", async () => {
      const all = Array.from({ length: 20 }, (_, i) => pinnedAs("", `model-${i}`));
      const did = await Promise.all(
        all.map((to) => used.storage.systemRecords.pin({ after: undefined, to })),
      );
      expect(did.filter(Boolean)).toHaveLength(1);
      const models = [all[did.indexOf(true)]];
      expect(await used.storage.systemRecords.models()).toEqual(models);
      await used.reopen();
      const late = { after: undefined, to: pinnedAs("", "late") };
      expect(await used.storage.systemRecords.pin(late)).toBe(false);
      expect(await used.storage.systemRecords.models()).toEqual(models);
    });

    it("pins one of 20 models after the present one, and keeps those before", async () => {
      const { systemRecords } = used.storage;
      const before = await systemRecords.models();
      const all = Array.from({ length: 20 }, (_, i) => pinnedAs(`e${i}`, `model-${i}`));
      const did = await Promise.all(all.map((to) => systemRecords.pin({ after: "", to })));
      expect(did.filter(Boolean)).toHaveLength(1);
      const second = all[did.indexOf(true)] as (typeof all)[0];
      expect(await systemRecords.pin({ after: "", to: pinnedAs("late", "late") })).toBe(false);
      const third = pinnedAs("third", "model-0");
      expect(await systemRecords.pin({ after: second.modelVersion, to: third })).toBe(true);
      await used.reopen();
      expect(await used.storage.systemRecords.models()).toEqual([...before, second, third]);
    });
  });
}
