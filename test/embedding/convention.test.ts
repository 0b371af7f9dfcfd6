import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { PLAIN, pinnedParts } from "../../src/embedding/encode/convention.js";
import { familyOf } from "../../src/embedding/models/families.js";
import {
  type ConventionSettings,
  describeConvention,
  findConvention,
  settled,
  unusualLines,
} from "../../src/embedding/models/find-convention.js";

async function folderWith(files: Readonly<Record<string, unknown>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "model-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

async function find(
  files: Readonly<Record<string, unknown>>,
  { model = "some/model", settings = {} }: { model?: string; settings?: ConventionSettings } = {},
) {
  return findConvention({ model, folder: await folderWith(files), settings });
}

const POOLING = "1_Pooling/config.json";
const PROMPTS = "config_sentence_transformers.json";

describe("a model's pooling", () => {
  const pooling = (on: string) => ({
    [POOLING]: {
      word_embedding_dimension: 384,
      pooling_mode_cls_token: false,
      pooling_mode_mean_tokens: false,
      pooling_mode_max_tokens: false,
      pooling_mode_lasttoken: false,
      include_prompt: true,
      ...(on !== "" && { [`pooling_mode_${on}`]: true }),
    },
  });

  it.each([
    ["mean_tokens", "mean"],
    ["mean_sqrt_len_tokens", "mean"],
    ["cls_token", "cls"],
    ["lasttoken", "last"],
  ])("is read from its files: %s is %s", async (mode, expected) => {
    const { convention, assumed } = await find(pooling(mode));
    expect(convention).toMatchObject({ ...PLAIN, pooling: expected });
    expect(assumed).toBe(false);
  });

  it.each([
    ["mean", "mean"],
    ["cls", "cls"],
    ["lasttoken", "last"],
  ])("is read from the short form too: %s is %s", async (mode, expected) => {
    const { convention } = await find({ [POOLING]: { pooling_mode: mode } });
    expect(convention.pooling).toBe(expected);
  });

  it("is the mean where the file turns nothing on or off", async () => {
    expect((await find({ [POOLING]: { word_embedding_dimension: 8 } })).convention.pooling).toBe("mean");
  });

  it.each([
    [{ pooling_mode_mean_tokens: false, pooling_mode_max_tokens: true }, "max_tokens"],
    [{ pooling_mode_cls_token: true }, "mean_tokens and cls_token"],
    [{ pooling_mode_mean_tokens: false }, "none"],
    [{ pooling_mode: "weightedmean" }, "weightedmean"],
    [{ include_prompt: false }, "include_prompt false"],
  ])("is refused when there is no such thing here: %j", async (config, named) => {
    const refused = find({ [POOLING]: config });
    await expect(refused).rejects.toMatchObject({ code: "failed_precondition" });
    await expect(refused).rejects.toThrow(`${POOLING} asks for pooling ${named}, which there is not here; `);
    const forced = await find({ [POOLING]: config }, { settings: { pooling: "cls" } });
    expect(forced.convention.pooling).toBe("cls");
  });

  it("is the model's own vector where a layer follows the pooling", async () => {
    const modules = [
      { type: "sentence_transformers.models.Pooling" },
      { type: "sentence_transformers.models.Dense" },
    ];
    const { convention, assumed } = await find({ ...pooling("mean_tokens"), "modules.json": modules });
    expect(convention.pooling).toBe("model");
    expect(assumed).toBe(false);
  });

  it("is not touched by layers that only normalise", async () => {
    const modules = [
      { type: "sentence_transformers.models.Pooling" },
      { type: "sentence_transformers.models.Normalize" },
    ];
    expect((await find({ ...pooling("cls_token"), "modules.json": modules })).convention.pooling).toBe("cls");
  });
});

describe("a model's prefixes", () => {
  const prefixes = async (prompts: unknown, more = {}) => {
    const { convention } = await find({ [PROMPTS]: { prompts, ...more } });
    return [convention.queryPrefix, convention.passagePrefix];
  };

  it.each([
    [{ query: "q: ", document: "d: " }, "q: ", "d: "],
    [{ query: "q: ", passage: "p: " }, "q: ", "p: "],
    [{ query: "q: ", corpus: "c: ", passage: "" }, "q: ", ""],
    [{ query: "q: " }, "q: ", ""],
    [{ passage: "p: " }, "", "p: "],
  ])("are read from its files: %j", async (prompts, query, passage) => {
    expect(await prefixes(prompts)).toEqual([query, passage]);
  });

  it("are the default prompt where there is none for the purpose", async () => {
    const both = { query: "q: ", sts: "s: " };
    expect(await prefixes(both, { default_prompt_name: "sts" })).toEqual(["q: ", "s: "]);
  });

  it.each([{}, null, { query: "", document: "" }, { sts: "s: " }])(
    "are not in a file that says %j",
    async (prompts) => {
      expect(await prefixes(prompts)).toEqual(["", ""]);
    },
  );
});

describe("what is known of a family", () => {
  it.each([
    ["Xenova/e5-small-v2", "mean", "query: ", "passage: "],
    ["Xenova/multilingual-e5-base", "mean", "query: ", "passage: "],
    ["onnx-community/bge-small-en-v1.5-ONNX", "cls", "Represent this sentence", ""],
    ["Xenova/bge-base-zh", "cls", "为这个句子", ""],
    ["Xenova/bge-m3", "cls", "", ""],
    ["Xenova/gte-small", "mean", "", ""],
    ["Alibaba-NLP/gte-large-en-v1.5", "cls", "", ""],
    ["nomic-ai/nomic-embed-text-v1.5", "mean", "search_query: ", "search_document: "],
    ["Xenova/all-MiniLM-L6-v2", "mean", "", ""],
    ["Xenova/all-mpnet-base-v2", "mean", "", ""],
    ["Xenova/paraphrase-multilingual-MiniLM-L12-v2", "mean", "", ""],
    ["Xenova/multi-qa-MiniLM-L6-cos-v1", "mean", "", ""],
    ["onnx-community/embeddinggemma-300m-ONNX", "model", "task: ", "title: none | text: "],
    ["onnx-community/Qwen3-Embedding-0.6B-ONNX", "last", "Instruct: ", ""],
    ["bundled", "mean", "", ""],
  ])("is used of %s", async (model, pooling, query, passage) => {
    const { convention, assumed } = await find({}, { model });
    expect(convention).toMatchObject({ pooling, passagePrefix: passage });
    expect(convention.queryPrefix.startsWith(query) && (query !== "" || convention.queryPrefix === "")).toBe(
      true,
    );
    expect(assumed).toBe(false);
    expect(familyOf(model)?.source).toMatch(/^https:|^models\/bundled$/);
  });

  it.each([
    "Xenova/bge-reranker-base",
    "me/bge-small-en-v1.5-tuned",
    "Xenova/e5-mistral",
    "some/model",
    "Xenova/multi-qa-mpnet-base-dot-v1",
  ])("is not put upon %s", async (model) => {
    const { convention, assumed } = await find({}, { model });
    expect(convention).toMatchObject(PLAIN);
    expect(assumed).toBe(true);
  });

  it("gives way to the model's files, and those to the settings, part by part", async () => {
    const files = { [PROMPTS]: { prompts: { query: "ask: " } } };
    const model = "Xenova/e5-small-v2";
    expect(await find(files, { model, settings: { passagePrefix: "" } })).toEqual({
      convention: { pooling: "mean", queryPrefix: "ask: ", passagePrefix: "", windowTokens: 256 },
      assumed: false,
    });
  });
});

describe("a model's window", () => {
  const config = (more: object) => ({ "config.json": { model_type: "bert", ...more } });
  const trained = (tokens: unknown) => ({ "sentence_bert_config.json": { max_seq_length: tokens } });
  const tokenizer = (tokens: unknown) => ({ "tokenizer_config.json": { model_max_length: tokens } });
  it.each([
    [
      "the least of what its files say",
      { ...config({ max_position_embeddings: 512 }), ...trained(128) },
      128,
    ],
    [
      "no more than it has positions",
      { ...config({ max_position_embeddings: 256 }), ...tokenizer(1e30) },
      256,
    ],
    [
      "as much as its tokenizer allows",
      { ...config({ n_positions: 240 }), ...tokenizer(220), ...trained(null) },
      220,
    ],
    [
      "two less where positions are shifted",
      config({ model_type: "xlm-roberta", max_position_embeddings: 130 }),
      128,
    ],
    [
      "bounded where it could read whole books",
      { ...config({ max_position_embeddings: 8192 }), ...trained(8192) },
      256,
    ],
    ["bounded where nothing is said", {}, 256],
  ])("is %s", async (_, files, expected) => {
    expect((await find(files)).convention.windowTokens).toBe(expected);
  });
});

it("a file that is not JSON is named", async () => {
  await expect(find({ [PROMPTS]: "{" })).rejects.toThrow(/config_sentence_transformers\.json is not JSON$/);
});

it("a model that has only its own vector is read by that, unless the operator asked for something else", async () => {
  const found = await find({});
  expect(settled(found, "mean")).toEqual(found);
  expect(settled(found, "model")).toMatchObject({ convention: { pooling: "model" }, assumed: false });
  expect(() => settled(found, "model", { pooling: "cls" })).toThrow("MODEL_POOLING is cls");
});

it("vectors that are kept depend on the pooling and the passage prefix, where those are not the plain ones", () => {
  expect(pinnedParts({ ...PLAIN, queryPrefix: "q: " })).toEqual({});
  expect(pinnedParts({ pooling: "cls", queryPrefix: "", passagePrefix: "p: " })).toEqual({
    pooling: "cls",
    passagePrefix: "p: ",
  });
});

it("the start tells what is not plain, and what is a guess", async () => {
  const known = await find({}, { model: "Xenova/e5-small-v2" });
  expect(unusualLines(known)).toEqual(['query prefix "query: "', 'passage prefix "passage: "']);
  expect(unusualLines(await find({}))).toEqual(["pooling mean (assumed)"]);
  expect(unusualLines(await find({}, { model: "bundled" }))).toEqual([]);
  expect(describeConvention(await find({}))).toEqual([
    "pooling mean (assumed)",
    "query prefix none",
    "passage prefix none",
  ]);
});
