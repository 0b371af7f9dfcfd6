import { describe, expect, it } from "vitest";
import { generationFor, modelFor } from "../../src/memory/model-change/pin.js";
import type { ModelIdentity } from "../../src/memory/ports/embedder.js";
import type { Pinned, Plan, SystemRecords } from "../../src/memory/ports/plan.js";

const PLAIN: ModelIdentity = { id: "a/b", revision: "0".repeat(64), dtype: "q8", dimensions: 384 };
const ODD: ModelIdentity = { ...PLAIN, pooling: "cls", passagePrefix: "passage: " };

function pinnedTo(pinned: ModelIdentity) {
  return { pinModel: async () => ({ model: pinned, generation: "" }) } as unknown as SystemRecords;
}
const holdTo = (systemRecords: SystemRecords, model: ModelIdentity, plan?: Plan) =>
  generationFor(systemRecords, { model, plan });

describe("a database keeps to the model it was begun with", () => {
  it.each([PLAIN, ODD])("and opens with it", async (model) => {
    await expect(holdTo(pinnedTo(model), { ...model })).resolves.toBe("");
  });

  const other = { id: "c/d", revision: "1".repeat(64), dtype: "fp32", dimensions: 768 };
  it.each(Object.entries(other))("and refuses another %s", async (aspect, value) => {
    const refusal = holdTo(pinnedTo(PLAIN), { ...PLAIN, [aspect]: value });
    await expect(refusal).rejects.toMatchObject({ code: "failed_precondition" });
    await expect(refusal).rejects.toThrow(
      new RegExp(
        `They differ in ${aspect}; start with that model, or with an empty database; or have it changed: `,
      ),
    );
  });

  it("and says of a plain one how to go on with it, when its model is read in another way now", async () => {
    await expect(holdTo(pinnedTo(PLAIN), ODD)).rejects.toThrow(
      "the database holds vectors of a/b (revision 000000000000, q8, 384 dimensions, pooling mean, no passage prefix), " +
        'but MODEL is a/b (revision 000000000000, q8, 384 dimensions, pooling cls, passage prefix "passage: "). ' +
        "They differ in pooling, passage prefix; " +
        "start with MODEL_POOLING=mean and MODEL_PASSAGE_PREFIX=none, or with an empty database",
    );
  });

  it("and says of another what was in front of its texts", async () => {
    await expect(holdTo(pinnedTo(ODD), { ...PLAIN, pooling: "cls" })).rejects.toThrow(
      'They differ in passage prefix; start with MODEL_PASSAGE_PREFIX="passage: ", or',
    );
  });

  it("and asks for the model when that differs too", async () => {
    await expect(holdTo(pinnedTo(ODD), { ...PLAIN, id: "c/d" })).rejects.toThrow(
      "; start with that model, or",
    );
  });
});

describe("a database whose model changes", () => {
  const plan = (phase: Plan["phase"]): Plan => {
    const progress = { done: 0, of: 0 };
    return { generation: "e2", modelId: "c/d", phase, begunAtMs: 0, replicas: {}, progress };
  };
  const changed: Pinned = { model: ODD, generation: "e2", previous: { generation: "", modelId: "old/one" } };

  it.each([
    ["is new to the database", "any/one", undefined, undefined, "any/one"],
    ["is the one it has", "a/b", changed, undefined, "a/b"],
    ["is the one before", "old/one", changed, undefined, "a/b"],
    ["is the next one, being built", "c/d", changed, plan("building"), "a/b"],
    ["is the one that namespaces move away from", "a/b", changed, plan("switching"), "c/d"],
  ])("takes MODEL when it %s", (_, wanted, pinned, plan, loaded) => {
    expect(modelFor(wanted, { pinned, plan })).toBe(loaded);
  });

  it("refuses any other, and says how to change it", () => {
    expect(() => modelFor("x/y", { pinned: changed, plan: plan("building") })).toThrow(
      /but MODEL is x\/y; start with that model, .* recalld-admin reembed MODEL$/,
    );
  });

  it("takes another revision of its model only when namespaces move to it already", async () => {
    const next = { ...PLAIN, id: "c/d", revision: "2".repeat(64) };
    expect(await holdTo(pinnedTo(PLAIN), next, plan("switching"))).toBe("e2");
    await expect(holdTo(pinnedTo(PLAIN), next, plan("building"))).rejects.toThrow("differ in id, revision");
  });
});
