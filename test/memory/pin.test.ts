import { describe, expect, it } from "vitest";
import { modelFor, pinned } from "../../src/memory/models/pin.js";
import type { ModelIdentity } from "../../src/memory/ports/embedder.js";
import type { Pinned, SystemRecords } from "../../src/memory/ports/model-version.js";
import { abandon, linesOf, readModelStatus } from "../../src/memory/reembedding/change-model.js";

const PLAIN: ModelIdentity = { id: "a/b", revision: "0".repeat(64), dtype: "q8", dimensions: 384 };
const ODD: ModelIdentity = { ...PLAIN, pooling: "cls", passagePrefix: "passage: " };

const pinnedTo = (model: ModelIdentity): Pinned => ({ modelVersion: "", model });
const noRecords: SystemRecords = {
  models: () => Promise.reject(new Error("not asked")),
  pin: () => Promise.reject(new Error("nothing is pinned")),
};
/** Starts with a model, over a database that is pinned to the present one. */
const start = (present: ModelIdentity, model: ModelIdentity) =>
  pinned(noRecords, { model, models: [pinnedTo(present)] });

describe("a database keeps to the model it was begun with", () => {
  it.each([PLAIN, ODD])("and opens with it", async (model) => {
    await expect(start(model, { ...model })).resolves.toEqual([pinnedTo(model)]);
  });

  const other = { id: "c/d", revision: "1".repeat(64), dtype: "fp32", dimensions: 768 };
  it.each(Object.entries(other))("and refuses another %s", async (aspect, value) => {
    const refusal = start(PLAIN, { ...PLAIN, [aspect]: value });
    await expect(refusal).rejects.toMatchObject({ code: "failed_precondition" });
    await expect(refusal).rejects.toThrow(
      new RegExp(
        `They differ in ${aspect}; start with that model, or with an empty database; or change the database's model: `,
      ),
    );
  });

  it("and says of a plain one how to go on with it, when its model is read in another way now", async () => {
    await expect(start(PLAIN, ODD)).rejects.toThrow(
      "the database is pinned to a/b (revision 000000000000, q8, 384 dimensions, pooling mean, no passage prefix), " +
        'but MODEL is a/b (revision 000000000000, q8, 384 dimensions, pooling cls, passage prefix "passage: "). ' +
        "They differ in pooling, passage prefix; " +
        "start with MODEL_POOLING=mean and MODEL_PASSAGE_PREFIX=none, or with an empty database",
    );
  });

  it("and says of another what was in front of its texts", async () => {
    await expect(start(ODD, { ...PLAIN, pooling: "cls" })).rejects.toThrow(
      'They differ in passage prefix; start with MODEL_PASSAGE_PREFIX="passage: ", or',
    );
  });

  it("and asks for the model when that differs too", async () => {
    await expect(start(ODD, { ...PLAIN, id: "c/d" })).rejects.toThrow("; start with that model, or");
  });
});

describe("a new database", () => {
  it("is pinned to the model that its first process has loaded", async () => {
    let models: readonly Pinned[] = [];
    const systemRecords: SystemRecords = {
      models: async () => models,
      pin: async ({ after, to }) => {
        expect(after).toBeUndefined();
        models = [to];
        return true;
      },
    };
    expect(await pinned(systemRecords, { model: PLAIN, models: [] })).toEqual([pinnedTo(PLAIN)]);
  });

  it("that another process has pinned meanwhile is refused to another model", async () => {
    const systemRecords: SystemRecords = { models: async () => [pinnedTo(ODD)], pin: async () => false };
    await expect(pinned(systemRecords, { model: PLAIN, models: [] })).rejects.toThrow("They differ in");
  });
});

describe("a database whose model was changed", () => {
  const models = [
    { modelVersion: "", model: { ...PLAIN, id: "old/one" } },
    { modelVersion: "e2", model: ODD },
  ];

  it.each([
    ["is new to the database", "any/one", [], "any/one"],
    ["is the one it is pinned to", "a/b", models, "a/b"],
    ["is the one before", "old/one", models, "a/b"],
  ])("takes MODEL when it %s", (_, wanted, models, loaded) => {
    expect(modelFor(wanted, models)).toBe(loaded);
  });

  it("refuses any other, and says how to change it", () => {
    expect(() => modelFor("x/y", models)).toThrow(
      /^the database is pinned to a\/b \(.*but MODEL is x\/y; start with that model, .* recalld-admin reembed MODEL$/,
    );
  });
});

describe("a change of the model", () => {
  const to = (modelVersion: string, id: string): Pinned => ({ modelVersion, model: { ...PLAIN, id } });
  const abandoned = async (models: Pinned[], meanwhile: Pinned[]) => {
    const systemRecords: SystemRecords = {
      models: async () => [...models],
      pin: async ({ after, to }) => {
        if (models.at(-1)?.modelVersion !== after) return false;
        models.push(to);
        return true;
      },
    };
    const named = { scope: { accountId: "acc", namespace: "a" }, logId: "log" };
    const names = {
      list: async () => {
        models.push(...meanwhile);
        return [named];
      },
    };
    const log = { last: async () => undefined };
    await abandon({ systemRecords, names, log });
    return models.map(({ model }) => model.id);
  };

  it("is given up by pinning the model before", async () => {
    expect(await abandoned([to("", "a"), to("1", "b")], [])).toEqual(["a", "b", "a"]);
    expect(await abandoned([to("", "a"), to("1", "b")], [to("2", "a")])).toEqual(["a", "b", "a"]);
  });

  it("names the namespaces that are left, ten at most", async () => {
    const systemRecords = { models: async () => [to("", "a"), to("1", "b")] };
    const named = Array.from({ length: 12 }, (_, i) => ({
      scope: { accountId: "acc", namespace: `n${i}` },
      logId: `log${i}`,
    }));
    const names = { list: async () => named };
    const log = { last: async () => undefined };
    const lines = linesOf(await readModelStatus({ systemRecords, names, log }));
    expect(lines.slice(-11)).toEqual([
      "0 of 12 namespaces have vectors of b, 0 of 0 entries are made",
      ...named.slice(0, 10).map((_, i) => `n${i} of acc, log log${i}, is left`),
    ]);
  });

  it("is not given up if another operator has pinned a third model meanwhile", async () => {
    const models = [to("", "a"), to("1", "b")];
    await expect(abandoned(models, [to("2", "c")])).rejects.toThrow(
      "another command has pinned the database to c meanwhile",
    );
    expect(models).toHaveLength(3);
  });
});
