import { describe, expect, it } from "vitest";
import type { ModelIdentity } from "../../src/memory/embedder.js";
import { holdTo } from "../../src/memory/pin.js";

const PLAIN: ModelIdentity = { id: "a/b", revision: "0".repeat(64), dtype: "q8", dimensions: 384 };
const ODD: ModelIdentity = { ...PLAIN, pooling: "cls", passagePrefix: "passage: " };

function pinnedTo(pinned: ModelIdentity) {
  return { pinModel: async () => pinned, pinnedModel: async () => pinned };
}

describe("a database keeps to the model it was begun with", () => {
  it.each([PLAIN, ODD])("and opens with it", async (model) => {
    await expect(holdTo(pinnedTo(model), { ...model })).resolves.toBeUndefined();
  });

  const other = { id: "c/d", revision: "1".repeat(64), dtype: "fp32", dimensions: 768 };
  it.each(Object.entries(other))("and refuses another %s", async (aspect, value) => {
    const refusal = holdTo(pinnedTo(PLAIN), { ...PLAIN, [aspect]: value });
    await expect(refusal).rejects.toMatchObject({ code: "failed_precondition" });
    await expect(refusal).rejects.toThrow(
      new RegExp(`They differ in ${aspect}; start with that model, or with an empty database$`),
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
