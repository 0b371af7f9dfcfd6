import { describe, expect, it } from "vitest";
import type { OpenModel } from "../../src/memory/models/model-versions.js";
import type { ModelIdentity } from "../../src/memory/ports/embedder.js";
import type { Pinned } from "../../src/memory/ports/model-version.js";
import { NOTHING, staleCopiesOf } from "../../src/memory/reembedding/move.js";
import { HandClock } from "./clock.js";
import { modelOf, modelVersionsOf } from "./models.js";

const OLD = modelOf([1, 0], "old");
const NEW = modelOf([0, 1], "new");
const TEXT = { text: "t", field: "text", owner: "acc" } as const;
const pinnedAs = (modelVersion: string, { model }: { model: ModelIdentity }): Pinned => ({
  modelVersion,
  model,
});

/** Makes a process with the old model, over a database that has the given ones. */
function setUp(models: () => readonly Pinned[], open: (model: ModelIdentity) => Promise<OpenModel>) {
  const clock = new HandClock();
  const troubles: unknown[] = [];
  const modelVersions = modelVersionsOf(OLD, {
    systemRecords: { models: async () => models() },
    clock,
    openModel: open,
    onTrouble: (error) => troubles.push(error),
  });
  return { clock, modelVersions, troubles };
}

const opened = (model = NEW): OpenModel => ({ ...model, close: async () => {} });

describe("the models of a database", () => {
  it("are read as they are after the question, also while another asks", async () => {
    let pins = [pinnedAs("", OLD)];
    let answer = (_: readonly Pinned[]) => {};
    // The first read takes effect at once, and its answer is long under way.
    const slow = new Promise<readonly Pinned[]>((resolve) => {
      answer = resolve;
    });
    const reads = [() => slow];
    const modelVersions = modelVersionsOf(OLD, {
      systemRecords: { models: () => (reads.shift() ?? (async () => pins))() },
      openModel: async () => opened(),
    });
    const before = modelVersions.refresh();
    const old = pins;
    await new Promise((resolve) => setImmediate(resolve));
    pins = [...pins, pinnedAs("e2", NEW)];
    const asked = modelVersions.refresh();
    answer(old);
    await before;
    expect(modelVersions.pins.present.modelVersion).toBe("");
    await asked;
    expect(modelVersions.pins.present.modelVersion).toBe("e2");
  });

  it("are loaded when a call meets a log of one, and new namespaces begin with the pinned one from then on", async () => {
    let loads = 0;
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const pins = [pinnedAs("", OLD), pinnedAs("e2", NEW)];
    const { modelVersions } = setUp(
      () => pins,
      async () => {
        loads++;
        await arrived;
        return opened();
      },
    );
    const both = [1, 2].map(() => modelVersions.embed("e2", TEXT));
    await modelVersions.refresh();
    expect([modelVersions.newest, modelVersions.has("e2")]).toEqual(["", false]);
    expect((await modelVersions.embed("", TEXT)).vectors).toEqual(Float32Array.of(1, 0));
    arrive();
    for (const { vectors } of await Promise.all(both)) expect(vectors).toEqual(Float32Array.of(0, 1));
    expect([modelVersions.newest, modelVersions.has("e2"), loads]).toEqual(["e2", true, 1]);
  });

  it("are shared by the model versions of one model", async () => {
    const pins = [pinnedAs("", OLD), pinnedAs("e2", NEW), pinnedAs("e3", OLD)];
    const { modelVersions } = setUp(
      () => pins,
      () => Promise.reject(new Error("not needed")),
    );
    await modelVersions.refresh();
    expect([modelVersions.newest, modelVersions.has(""), modelVersions.has("e3")]).toEqual([
      "e3",
      true,
      true,
    ]);
    expect(modelVersions.pins.isAtPresent("0123")).toBe(true);
    expect(modelVersions.pins.isAtPresent("0123xe2")).toBe(false);
    const log = { last: async () => ({ sequence: 1, entry: { ...NOTHING, opId: "op" } }) };
    const staleOf = (logId: string) => staleCopiesOf(log, { pins: modelVersions.pins, logId });
    expect(await staleOf("0123")).toEqual(["0123xe2", "0123xe3"]);
    expect(await staleOf("0123xe3")).toEqual(["0123xe2"]);
  });

  it("that another revision stands for here are unavailable, and tried again after a time", async () => {
    let revision = "other";
    let loads = 0;
    const pins = [pinnedAs("", OLD), pinnedAs("e2", NEW)];
    const { clock, modelVersions, troubles } = setUp(
      () => pins,
      async () => {
        loads++;
        return opened({ ...NEW, model: { ...NEW.model, revision } });
      },
    );
    const refused = { code: "unavailable", retryAfterMs: 1000 };
    for (let i = 0; i < 3; i++) await expect(modelVersions.embed("e2", TEXT)).rejects.toMatchObject(refused);
    expect([loads, troubles.length, modelVersions.newest]).toEqual([1, 1, ""]);
    expect(String(troubles[0])).toMatch(
      /has vectors of new \(revision , .*but here is new \(revision other,/,
    );
    revision = "";
    clock.atMs += 31_000;
    expect((await modelVersions.embed("e2", TEXT)).vectors).toEqual(Float32Array.of(0, 1));
  });

  it("that nobody uses for minutes are closed, but for the pinned one", async () => {
    const closed: string[] = [];
    const model = (loaded: typeof OLD) => ({
      ...loaded,
      close: async () => void closed.push(loaded.model.id),
    });
    const pins = [pinnedAs("", OLD), pinnedAs("e2", NEW)];
    const { clock, modelVersions } = setUp(
      () => pins,
      async ({ id }) => model(id === "old" ? OLD : NEW),
    );
    await modelVersions.embed("e2", TEXT);
    clock.atMs += 301_000;
    await modelVersions.refresh();
    expect([modelVersions.has(""), modelVersions.has("e2")]).toEqual([false, true]);
    await modelVersions.embed("", TEXT);
    expect(modelVersions.has("")).toBe(true);
    await modelVersions.refresh();
    expect(modelVersions.has("")).toBe(true);
    clock.atMs += 301_000;
    await modelVersions.refresh();
    expect(closed).toEqual(["old"]);
  });

  it("that no process knows are unavailable", async () => {
    const { modelVersions } = setUp(
      () => [pinnedAs("", OLD)],
      async () => opened(),
    );
    await expect(modelVersions.find("e9")).rejects.toMatchObject({ code: "unavailable" });
    await expect(modelVersions.embed("e9", TEXT)).rejects.toMatchObject({ code: "unavailable" });
  });
});
