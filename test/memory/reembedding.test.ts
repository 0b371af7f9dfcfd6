import { describe, expect, it } from "vitest";
import { Reembedding, type ReembeddingPorts } from "../../src/memory/model-change/reembedding.js";
import { systemClock } from "../../src/memory/pacing/clock.js";
import type { Pinned, SystemRecords } from "../../src/memory/ports/plan.js";
import { modelOf, oneGeneration } from "./models.js";

const { model } = modelOf([1, 0]);
const pinnedAs = (generation: string): Pinned => ({ model, generation });

describe("a look at the database's model", () => {
  it("tells who asks while another runs what is true after the question", async () => {
    let pinned = pinnedAs("");
    let answer = (_: Pinned) => {};
    // The first read takes effect at once, and its answer is long under way.
    const slow = new Promise<Pinned>((resolve) => {
      answer = resolve;
    });
    const reads = [() => slow, async () => pinned];
    const systemRecords: SystemRecords = {
      pinModel: async () => pinned,
      pinned: () => (reads.shift() ?? (async () => pinned))(),
      repin: async () => {},
      plan: async () => undefined,
      replacePlan: async () => true,
    };
    const generations = oneGeneration(2);
    const openModel = async () => ({ ...modelOf([1, 0]), close: async () => {} });
    // There is no plan to lead, so the ports of leading one are left out.
    const ports = {
      ...{ systemRecords, generations, openModel, clock: systemClock, exclusive: false },
      namespaces: { unprepare: () => {}, prepare: async () => {} },
      onTrouble: (error: unknown) => expect(error).toBeUndefined(),
      onPhase: () => {},
    } as unknown as ReembeddingPorts;
    const reembedding = new Reembedding(ports, { generation: "", model: await openModel() });
    const before = reembedding.step();
    const old = pinned;
    await new Promise((resolve) => setImmediate(resolve));
    pinned = pinnedAs("new");
    const asked = generations.refresh();
    answer(old);
    await before;
    expect(generations.newest).toBe("");
    await asked;
    expect(generations.newest).toBe("new");
    await reembedding.close();
  });
});
