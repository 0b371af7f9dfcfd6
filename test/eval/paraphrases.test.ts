import { expect, it, onTestFinished } from "vitest";
import { PARAPHRASES, type Paraphrase } from "../../eval/paraphrase-set.js";
import { isToldApart, tellApart } from "../../eval/tell-apart.js";
import type { EmbedderOptions } from "../../src/embedding/open.js";
import { openEmbedder } from "../embedding/built.js";
import { toyModel } from "../embedding/toy-models.js";

const ENGLISH = PARAPHRASES.English as readonly Paraphrase[];

async function apart(options: Pick<EmbedderOptions, "model" | "modelsDir" | "settings">) {
  const embedder = await openEmbedder({ ...options, workers: 1 });
  onTestFinished(() => embedder.close());
  return tellApart(embedder, ENGLISH);
}

it("the bundled model tells answers apart, and less so with a prefix that it was not trained with", async () => {
  const bundled = { model: "bundled", modelsDir: "/nowhere" };
  const bare = await apart(bundled);
  expect(bare).toMatchObject({ right: 6, questions: 6 });
  const settings = { queryPrefix: "The train to Paris was late again today. " };
  expect((await apart({ ...bundled, settings })).separation).toBeLessThan(bare.separation / 1.25);
});

it("a model that knows nothing is found out", async () => {
  expect(isToldApart(await apart((await toyModel()).source))).toBe(false);
});
