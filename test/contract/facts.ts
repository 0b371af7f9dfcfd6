import { describe, expect, it } from "vitest";
import type { Plan } from "../../src/memory/ports/plan.js";
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
      expect(await used.storage.facts.pinned()).toBeUndefined();
    });

    it("pins one model of 20 that come at once, for good", async () => {
      const models = Array.from({ length: 20 }, (_, i) => model(`model-${i}`));
      const pinned = await Promise.all(models.map((each) => used.storage.facts.pinModel(each)));
      expect(models).toContainEqual(pinned[0]?.model);
      expect(pinned[0]?.edition).toBe("");
      expect(await used.storage.facts.pinned()).toEqual(pinned[0]);
      expect(new Set(pinned.map(({ model }) => model.id)).size).toBe(1);
      await used.reopen();
      expect(await used.storage.facts.pinModel(model("late"))).toEqual(pinned[0]);
    });

    it("pins another model in place of the one that is there, once", async () => {
      const { facts } = used.storage;
      await facts.pinModel(model("first"));
      const previous = { edition: "", modelId: "first" };
      const second = { model: model("second"), edition: "e2", previous };
      await facts.repin({ from: "", to: second });
      await facts.repin({ from: "", to: { model: model("late"), edition: "e3" } });
      expect(await facts.pinned()).toEqual(second);
      await facts.repin({ from: "e2", to: { model: model("third"), edition: "e4" } });
      expect(await facts.pinModel(model("late"))).toEqual({ model: model("third"), edition: "e4" });
    });

    it("keeps one plan of 20 that come at once, and changes it one after the other", async () => {
      const { facts } = used.storage;
      expect(await facts.plan()).toBeUndefined();
      const plans = Array.from({ length: 20 }, (_, i) => plan(`e${i}`));
      const began = await Promise.all(plans.map((to) => facts.replacePlan({ from: 0, to })));
      expect(began.filter(Boolean)).toHaveLength(1);
      expect(await facts.plan()).toEqual({ plan: plans[began.indexOf(true)], version: 1 });
      const changed = await Promise.all(plans.map((to) => facts.replacePlan({ from: 1, to })));
      expect(changed.filter(Boolean)).toHaveLength(1);
      expect(await facts.plan()).toEqual({ plan: plans[changed.indexOf(true)], version: 2 });
      expect(await facts.replacePlan({ from: 1, to: undefined })).toBe(false);
      await used.reopen();
      expect((await used.storage.facts.plan())?.version).toBe(2);
      expect(await used.storage.facts.replacePlan({ from: 2, to: undefined })).toBe(true);
      expect(await used.storage.facts.plan()).toBeUndefined();
    });

    it("gives no plan the version of an earlier one: whoever slept meanwhile changes nothing", async () => {
      const seen: number[] = [];
      for (const edition of ["a", "b", "c"]) {
        const { facts } = used.storage;
        expect(await facts.replacePlan({ from: 0, to: plan(edition) })).toBe(true);
        expect(await facts.replacePlan({ from: 0, to: plan("late") })).toBe(false);
        for (let changes = 0; changes < 3; changes++) {
          const { version } = (await facts.plan()) ?? { version: 0 };
          expect(seen).not.toContain(version);
          seen.push(version);
          for (const from of seen.slice(0, -1)) {
            expect(await facts.replacePlan({ from, to: plan("slept") })).toBe(false);
            expect(await facts.replacePlan({ from, to: undefined })).toBe(false);
          }
          expect((await facts.plan())?.plan.edition).toBe(edition);
          const to = changes < 2 ? plan(edition) : undefined;
          expect(await facts.replacePlan({ from: version, to })).toBe(true);
        }
        expect(await facts.replacePlan({ from: seen.at(-1) ?? 0, to: undefined })).toBe(false);
        await used.reopen();
      }
    });
  });
}

function plan(edition: string): Plan {
  const replicas = { "replica.with-a.dot": { stage: "loaded", seenAtMs: 5 } } as const;
  return { edition, modelId: "m", phase: "building", begunAtMs: 5, replicas, progress: { done: 1, of: 2 } };
}
