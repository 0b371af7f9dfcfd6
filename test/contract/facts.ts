import { describe, expect, it } from "vitest";
import { type MakeDatabase, useDatabase } from "./database.js";

/** What every keeper of facts holds to. */
export function factsContract(name: string, make: MakeDatabase): void {
  describe(`facts: ${name}`, () => {
    const used = useDatabase(make);
    const model = (id: string) => ({
      ...{ id, revision: "ab".repeat(32), dtype: "q8", dimensions: 384 },
      ...{ pooling: "cls", passagePrefix: "passage: " },
    });

    it("has no model pinned at first", async () => {
      expect(await used.storage.facts.pinnedModel()).toBeUndefined();
    });

    it("pins one model of 20 that come at once, for good", async () => {
      const models = Array.from({ length: 20 }, (_, i) => model(`model-${i}`));
      const pinned = await Promise.all(models.map((each) => used.storage.facts.pinModel(each)));
      expect(models).toContainEqual(pinned[0]);
      expect(await used.storage.facts.pinnedModel()).toEqual(pinned[0]);
      expect(new Set(pinned.map(({ id }) => id)).size).toBe(1);
      await used.reopen();
      expect(await used.storage.facts.pinModel(model("late"))).toEqual(pinned[0]);
    });
  });
}
