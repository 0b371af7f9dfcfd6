import { describe, expect, it } from "vitest";
import { describeModel } from "../../src/embedding/models/families.js";
import { quoted, rows, section } from "../support/documents.js";

describe("the description of a model", () => {
  it.each([
    ["bundled", ["en"]],
    ["Xenova/all-MiniLM-L6-v2", ["en"]],
    ["Xenova/paraphrase-multilingual-MiniLM-L12-v2", ["mul"]],
    ["Xenova/e5-small-v2", ["en"]],
    ["Xenova/multilingual-e5-small", ["mul"]],
    ["Xenova/bge-small-en-v1.5", ["en"]],
    ["Xenova/bge-small-zh-v1.5", ["zh"]],
    ["Xenova/bge-m3", ["mul"]],
    ["Alibaba-NLP/gte-multilingual-base", ["mul"]],
    ["Alibaba-NLP/gte-base-en-v1.5", ["en"]],
    ["nomic-ai/nomic-embed-text-v1.5", ["en"]],
    ["nomic-ai/nomic-embed-text-v2-moe", ["mul"]],
    ["onnx-community/embeddinggemma-300m-ONNX", ["mul"]],
    ["onnx-community/Qwen3-Embedding-0.6B-ONNX", ["mul"]],
    ["somebody/fine-tuned-bert", []],
  ])("says what %s reads", (id, languages) => {
    expect(describeModel(id)).toMatchObject({ id, languages });
  });

  it("knows the languages of every example of a known family", () => {
    const examples = rows(section("docs/models.md", "## Known families")).flatMap(([, ids]) => quoted(ids));
    expect(examples.length).toBeGreaterThan(12);
    expect(examples.filter((id) => describeModel(id).languages.length === 0)).toEqual([]);
  });

  it("says what a strong match is only where that was measured", () => {
    expect(describeModel("bundled").strongScore).toBe(0.8);
    expect(describeModel("Xenova/all-MiniLM-L6-v2").strongScore).toBe(0.8);
    expect(describeModel("Xenova/multilingual-e5-small").strongScore).toBeUndefined();
  });
});
