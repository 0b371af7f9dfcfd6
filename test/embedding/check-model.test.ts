import { expect, it } from "vitest";
import { checkModel } from "../../src/embedding/check-model.js";
import type { Embedder } from "../../src/memory/ports/embedder.js";

/** Finds the problems of a model that gives these vectors, one after another. */
async function problemsOf(...given: number[][]): Promise<string[]> {
  let reads = 0;
  const embed = async () => ({
    vectors: Float32Array.from(given[reads++ % given.length] as number[]),
    tokens: 3,
  });
  const problems: string[] = [];
  // Nothing else of an embedder is asked for.
  for await (const found of checkModel({
    model: { id: "toy", dimensions: 2 },
    embed,
  } as unknown as Embedder)) {
    if ("problem" in found) problems.push(found.problem);
  }
  return problems;
}

it.each([
  ["nothing of good vectors", [[0.6, 0.8]], []],
  ["another length", [[0.6, 0.9]], ["a vector is not of length 1"]],
  ["other dimensions", [[0, 0, 1]], ["a vector is not of 2 finite numbers"]],
  [
    "other vectors the second time",
    [
      [0, 1],
      [1, 0],
    ],
    ["the same text gives another vector"],
  ],
])("a model check finds %s", async (_, given, problems) => {
  expect(await problemsOf(...given)).toEqual(problems);
});
