import { join } from "node:path";
import { env, pipeline } from "@xenova/transformers";
import { describe, expect, it, onTestFinished } from "vitest";
import { packageRoot } from "../../src/embedding/models/locate.js";
import type { EmbedderOptions } from "../../src/embedding/open.js";
import { openEmbedder } from "./built.js";
import { type Toy, toyModel } from "./toy-models.js";

const TEXTS = ["train", "The train leaves at half past nine.", "Die Katze schläft. 漢字 😀", "a  b\tc\n d "];
const POOLING = "1_Pooling/config.json";
const cls = { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false };
const last = { pooling_mode_lasttoken: true, pooling_mode_mean_tokens: false };

async function open(toy: Toy, settings: EmbedderOptions["settings"] = {}) {
  const { folder, source } = await toyModel(toy);
  const embedder = await openEmbedder({ ...source, settings, workers: 1 });
  onTestFinished(() => embedder.close());
  const read = async (text: string, field: "text" | "query" = "text") => {
    const { vectors, tokens } = await embedder.embed({ text, field, owner: "acc" });
    return { vector: vectors, tokens };
  };
  return { folder, source, embedder, read };
}

/** Embeds by Transformers.js' own pipeline. */
async function reference(folder: string) {
  env.allowRemoteModels = false;
  env.useFSCache = false;
  const extract = await pipeline("feature-extraction", folder, { dtype: "q8", local_files_only: true });
  return {
    vector: async (text: string, pooling: "mean" | "cls" | "last_token") => {
      const { data } = await extract(text, { pooling, normalize: true });
      return Float32Array.from(data as Float32Array);
    },
    tokens: (text: string) => extract.tokenizer.encode(text, { add_special_tokens: false }).length,
  };
}

function expectSame(a: Float32Array, b: Float32Array): void {
  expect(a).toHaveLength(b.length);
  for (const [i, value] of a.entries()) expect(value).toBeCloseTo(b[i] as number, 5);
}

describe.each(["unigram", "bpe"] as const)("a model with a %s tokenizer", (tokenizer) => {
  it.each([
    ["mean", {}, "mean"],
    ["cls", { [POOLING]: cls }, "cls"],
    ["last", { [POOLING]: last }, "last_token"],
  ] as const)("is pooled by %s as Transformers.js does it", async (pooling, files, theirs) => {
    const { folder, embedder, read } = await open({ tokenizer, files });
    const { vector, tokens } = await reference(folder);
    for (const text of TEXTS) {
      const ours = await read(text);
      expectSame(ours.vector, await vector(text, theirs));
      expect(ours.tokens).toBe(tokens(text));
    }
    expect(embedder.model.pooling).toBe(pooling === "mean" ? undefined : pooling);
  });

  it.each(["query: ", "passage:", "Instruct: find what answers the question\nQuery: "])(
    "reads %j in front of a text, and does not count it",
    async (prefix) => {
      const { folder, embedder, read } = await open(
        { tokenizer },
        { queryPrefix: prefix, passagePrefix: "" },
      );
      const { vector, tokens } = await reference(folder);
      for (const text of TEXTS) {
        const query = await read(text, "query");
        expectSame(query.vector, await vector(prefix + text, "mean"));
        expect(query.tokens).toBe(tokens(text));
        expectSame((await read(text)).vector, await vector(text, "mean"));
      }
      expect(embedder.model).not.toHaveProperty("passagePrefix");
    },
  );
});

it("a prefix before a WordPiece text is read and not counted either", async () => {
  const prefix = "search_query: ";
  const settings = { queryPrefix: prefix };
  const embedder = await openEmbedder({ model: "bundled", modelsDir: "/nowhere", settings, workers: 1 });
  onTestFinished(() => embedder.close());
  const { vector, tokens } = await reference(join(packageRoot(), "models/bundled"));
  for (const text of TEXTS) {
    const query = await embedder.embed({ text, field: "query", owner: "acc" });
    expectSame(query.vectors, await vector(prefix + text, "mean"));
    expect(query.tokens).toBe(tokens(text));
  }
  expect(embedder.model).not.toHaveProperty("passagePrefix");
});

it("a SentencePiece prefix is not as long alone as it is in front of a text", async () => {
  const { folder } = await toyModel();
  const { tokens } = await reference(folder);
  expect(tokens("query: ") + tokens("train")).not.toBe(tokens("query: train"));
});

it("the passage prefix is pinned, with the pooling", async () => {
  const prompts = { query: "query: ", document: "passage: " };
  const { embedder } = await open({
    files: { "config_sentence_transformers.json": { prompts }, [POOLING]: cls },
  });
  expect(embedder.model).toMatchObject({ pooling: "cls", passagePrefix: "passage: " });
});

it("a model that gives only a vector of its own is read by that", async () => {
  const { embedder, read } = await open({ graph: "sentence" });
  const both = await open({ graph: "both" }, { pooling: "model" });
  expect(embedder.model).toMatchObject({ dimensions: 4, pooling: "model" });
  for (const text of TEXTS) expectSame((await read(text)).vector, (await both.read(text)).vector);
  const mean = await open({ graph: "both" });
  expect(mean.embedder.model).not.toHaveProperty("pooling");
  expect((await mean.read("train")).vector).not.toEqual((await read("train")).vector);
});

it("a layer behind the pooling asks for the model's own vector, and is refused where there is none", async () => {
  const modules = [{ type: "sentence_transformers.models.Dense" }];
  const { embedder } = await open({ graph: "both", files: { "modules.json": modules } });
  expect(embedder.model.pooling).toBe("model");
  await expect(open({ files: { "modules.json": modules } })).rejects.toThrow(
    "could not be loaded: it gives last_hidden_state; pooling model needs sentence_embedding or pooler_output",
  );
});

it.each([
  ["logits", {}, /it gives logits; pooling mean needs last_hidden_state or .* or pooler_output$/],
  ["sentence", { pooling: "cls" }, /MODEL_POOLING is cls, but of this model there is only model$/],
] as const)("a model that gives only %s is refused in one line", async (graph, settings, message) => {
  const refused = open({ graph }, settings);
  await expect(refused).rejects.toMatchObject({ code: "failed_precondition" });
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.toThrow(/^model toy\/model in \S+ could not be loaded: /);
});

it("weights that lie in a file of their own are read, and part of the revision", async () => {
  const { embedder, folder, read } = await open({ graph: "apart" });
  const { vector } = await reference(folder);
  expectSame((await read("train")).vector, await vector("train", "mean"));
  expect(embedder.model.revision).toMatch(/^[0-9a-f]{64}$/);
});

it("sentence_bert_config.json bounds the window", async () => {
  const wide = await open({});
  const narrow = await open({ files: { "sentence_bert_config.json": { max_seq_length: 12 } } });
  const text = "The train leaves at half past nine in the morning.";
  const whole = await wide.embedder.embed({ text, field: "text", owner: "acc" });
  expect(whole.tokens).toBeGreaterThan(10);
  expect(whole.windows).toBeUndefined();
  const { tokens, windows = [] } = await narrow.embedder.embed({ text, field: "text", owner: "acc" });
  expect(tokens).toBe(whole.tokens);
  expect(windows.length).toBeGreaterThan(1);
});
