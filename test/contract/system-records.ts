import { describe, expect, it } from "vitest";
import type { Plan } from "../../src/memory/ports/plan.js";
import { type MakeDatabase, useDatabase } from "./database.js";

/** Contract of every adapter of the port `SystemRecords`. */
export function systemRecordsContract(name: string, make: MakeDatabase): void {
  describe(`system records: ${name}`, () => {
    const used = useDatabase(make);
    const model = (id: string) => ({
      ...{ id, revision: "ab".repeat(32), dtype: "q8", dimensions: 384 },
      ...{ pooling: "cls", passagePrefix: "passage: " },
    });

    it("has no model pinned at first", async () => {
      expect(await used.storage.systemRecords.pinned()).toBeUndefined();
    });

    it("pins one model of 20 that come at once, for good", async () => {
      const models = Array.from({ length: 20 }, (_, i) => model(`model-${i}`));
      const pinned = await Promise.all(models.map((each) => used.storage.systemRecords.pinModel(each)));
      expect(models).toContainEqual(pinned[0]?.model);
      expect(pinned[0]?.generation).toBe("");
      expect(await used.storage.systemRecords.pinned()).toEqual(pinned[0]);
      expect(new Set(pinned.map(({ model }) => model.id)).size).toBe(1);
      await used.reopen();
      expect(await used.storage.systemRecords.pinModel(model("late"))).toEqual(pinned[0]);
    });

    it("pins another model in place of the one that is there, once", async () => {
      const { systemRecords } = used.storage;
      await systemRecords.pinModel(model("first"));
      const previous = { generation: "", modelId: "first" };
      const second = { model: model("second"), generation: "e2", previous };
      await systemRecords.repin({ from: "", to: second });
      await systemRecords.repin({ from: "", to: { model: model("late"), generation: "e3" } });
      expect(await systemRecords.pinned()).toEqual(second);
      await systemRecords.repin({ from: "e2", to: { model: model("third"), generation: "e4" } });
      expect(await systemRecords.pinModel(model("late"))).toEqual({
        model: model("third"),
        generation: "e4",
      });
    });

    it("keeps one plan of 20 that come at once, and changes it one after the other", async () => {
      const { systemRecords } = used.storage;
      expect(await systemRecords.plan()).toBeUndefined();
      const plans = Array.from({ length: 20 }, (_, i) => plan(`e${i}`));
      const began = await Promise.all(plans.map((to) => systemRecords.replacePlan({ from: 0, to })));
      expect(began.filter(Boolean)).toHaveLength(1);
      expect(await systemRecords.plan()).toEqual({ plan: plans[began.indexOf(true)], version: 1 });
      const changed = await Promise.all(plans.map((to) => systemRecords.replacePlan({ from: 1, to })));
      expect(changed.filter(Boolean)).toHaveLength(1);
      expect(await systemRecords.plan()).toEqual({ plan: plans[changed.indexOf(true)], version: 2 });
      expect(await systemRecords.replacePlan({ from: 1, to: undefined })).toBe(false);
      await used.reopen();
      expect((await used.storage.systemRecords.plan())?.version).toBe(2);
      expect(await used.storage.systemRecords.replacePlan({ from: 2, to: undefined })).toBe(true);
      expect(await used.storage.systemRecords.plan()).toBeUndefined();
    });

    it("gives no plan the version of an earlier one: whoever slept meanwhile changes nothing", async () => {
      const seen: number[] = [];
      for (const generation of ["a", "b", "c"]) {
        const { systemRecords } = used.storage;
        expect(await systemRecords.replacePlan({ from: 0, to: plan(generation) })).toBe(true);
        expect(await systemRecords.replacePlan({ from: 0, to: plan("late") })).toBe(false);
        for (let changes = 0; changes < 3; changes++) {
          const { version } = (await systemRecords.plan()) ?? { version: 0 };
          expect(seen).not.toContain(version);
          seen.push(version);
          for (const from of seen.slice(0, -1)) {
            expect(await systemRecords.replacePlan({ from, to: plan("slept") })).toBe(false);
            expect(await systemRecords.replacePlan({ from, to: undefined })).toBe(false);
          }
          expect((await systemRecords.plan())?.plan.generation).toBe(generation);
          const to = changes < 2 ? plan(generation) : undefined;
          expect(await systemRecords.replacePlan({ from: version, to })).toBe(true);
        }
        expect(await systemRecords.replacePlan({ from: seen.at(-1) ?? 0, to: undefined })).toBe(false);
        await used.reopen();
      }
    });
  });
}

function plan(generation: string): Plan {
  const replicas = { "replica.with-a.dot": { stage: "loaded", seenAtMs: 5 } } as const;
  return {
    generation,
    modelId: "m",
    phase: "building",
    begunAtMs: 5,
    replicas,
    progress: { done: 1, of: 2 },
  };
}
