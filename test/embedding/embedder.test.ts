import { join } from "node:path";
import { env, pipeline } from "@xenova/transformers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpenEmbedder } from "../../src/embedding/embedder.js";
import { packageRoot } from "../../src/embedding/models/locate.js";
import { openEmbedder } from "./built.js";

const MODELS_DIR = process.env.MODELS_DIR;
const MINILM = "Xenova/all-MiniLM-L6-v2";
const ODD = [
  "a",
  "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪",
  "naïve café — “quoted” … ½ ﬁ",
  "e\u0301 is not é",
  "漢字とかな、そして한글",
  "שלום مرحبا",
  "\u200b\u00ad\ufeff",
  "null \u0000 and bell \u0007",
  "a\tb\r\nc\u2028d",
  "[CLS] [SEP] [MASK] [PAD]",
  "𝒻𝒶𝓃𝒸𝓎 😀x",
  "x".repeat(100),
];

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}

async function vectorOf(embedder: OpenEmbedder, text: string): Promise<Float32Array> {
  return (await embedder.embed({ text, field: "text", owner: "acc" })).vectors;
}

/** Opens a reference that uses Transformers.js alone. */
async function openReference(folder: string) {
  env.allowRemoteModels = false;
  env.useFSCache = false;
  const extract = await pipeline("feature-extraction", folder, { dtype: "q8", local_files_only: true });
  return {
    vector: async (text: string) => {
      const { data } = await extract(text, { pooling: "mean", normalize: true });
      return Float32Array.from(data as Float32Array);
    },
    tokens: (text: string): number => {
      const { input_ids } = extract.tokenizer(text, { add_special_tokens: false, truncation: false });
      return input_ids.dims[1] as number;
    },
  };
}

const MODELS = [
  { model: "bundled", modelsDir: "/nowhere", folder: join(packageRoot(), "models", "bundled"), skip: false },
  {
    model: MINILM,
    modelsDir: MODELS_DIR ?? "",
    folder: join(MODELS_DIR ?? "", MINILM),
    skip: MODELS_DIR === undefined,
  },
];

describe.each(MODELS)("$model", ({ model, modelsDir, folder, skip }) => {
  if (skip) {
    it.skip("is not tested: MODELS_DIR is unset", () => {});
    return;
  }

  let embedder: OpenEmbedder;
  let reference: Awaited<ReturnType<typeof openReference>>;
  beforeAll(async () => {
    embedder = await openEmbedder({ model, modelsDir, workers: 2 });
    reference = await openReference(folder);
  });
  afterAll(() => embedder.close());

  it("is named by its id, the hash of its files, its dtype and its dimensions", () => {
    const revision = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(embedder.model).toEqual({ id: model, revision, dtype: "q8", dimensions: 384 });
  });

  it.each(ODD)("%j gives the vector and the tokens that Transformers.js gives", async (text) => {
    const { vectors: vector, tokens } = await embedder.embed({ text, field: "text", owner: "acc" });
    expect(vector).toHaveLength(384);
    expect(Math.sqrt(dot(vector, vector))).toBeCloseTo(1, 5);
    expect(dot(vector, await reference.vector(text))).toBeGreaterThan(1 - 1e-5);
    expect(tokens).toBe(reference.tokens(text));
  });

  it("a text's vector is the same alone, in a crowd and as a query", async () => {
    const text = "The user prefers tea over coffee.";
    const alone = await vectorOf(embedder, text);
    const crowd = Array.from({ length: 20 }, (_, i) => [text, `filler ${"word ".repeat(i * 5)}`]).flat();
    const vectors = await Promise.all(crowd.map((each) => vectorOf(embedder, each)));
    for (let i = 0; i < vectors.length; i += 2) expect(vectors[i]).toEqual(alone);
    expect((await embedder.embed({ text, field: "query", owner: "acc" })).vectors).toEqual(alone);
  });

  it("one worker and two give the same vectors", async () => {
    const single = await openEmbedder({ model, modelsDir, workers: 1 });
    for (const text of ODD) expect(await vectorOf(single, text)).toEqual(await vectorOf(embedder, text));
    expect(single.model).toEqual(embedder.model);
    await single.close();
  });

  it("the text that means the same is the nearest", async () => {
    const pairs = [
      ["How do I reset my password?", "I forgot my login credentials and cannot sign in."],
      ["What should I cook tonight?", "Her favourite dinner is mushroom risotto."],
      ["When does the train leave?", "The railway departure is at half past nine."],
    ] as const;
    const memories = await Promise.all(pairs.map(([, memory]) => vectorOf(embedder, memory)));
    for (const [i, [query]] of pairs.entries()) {
      const vector = await vectorOf(embedder, query);
      const scores = memories.map((memory) => dot(vector, memory));
      expect(scores.indexOf(Math.max(...scores))).toBe(i);
    }
  });

  it("a text that fills the window has one vector, and one token more makes windows of it", async () => {
    const words = Array.from(
      { length: 255 },
      (_, i) => ["tea", "cup", "milk", "water", "rain"][((i * i) % 7) % 5],
    );
    const full = await embedder.embed({ text: words.slice(1).join(" "), field: "text", owner: "acc" });
    expect(full.tokens).toBe(254);
    expect(full.windows).toBeUndefined();
    const { tokens, windows } = await embedder.embed({ text: words.join(" "), field: "query", owner: "acc" });
    expect(tokens).toBe(255);
    expect(windows?.length).toBeGreaterThan(1);
  });

  it("nothing beyond the end of a long text is lost on its vector", async () => {
    const filler = "The weather was mild and nothing happened. ".repeat(55);
    const [a, b] = await Promise.all([
      vectorOf(embedder, `${filler} cats`),
      vectorOf(embedder, `${filler} rockets`),
    ]);
    expect(a).not.toEqual(b);
  });
});
