import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

const FIXTURES = join(import.meta.dirname, "../fixtures/models");

/** Options of a toy model. `test/fixtures/models/make.py` makes the tokenizers and describes them. */
export interface Toy {
  readonly tokenizer?: "unigram" | "bpe";
  readonly graph?: "states" | "sentence" | "both" | "logits" | "apart";
  /** Files to add to the model, or to replace. */
  readonly files?: Readonly<Record<string, unknown>>;
}

const TOKENIZERS = {
  unigram: { tokenizer_class: "XLMRobertaTokenizer", model_max_length: 64, pad_token: "<pad>" },
  bpe: { tokenizer_class: "GPT2Tokenizer", model_max_length: 64, pad_token: "<end>" },
};

/** Makes a folder with the model `toy/model`, which is removed after the test. */
export async function toyModel({ tokenizer = "unigram", graph = "states", files = {} }: Toy = {}) {
  const modelsDir = await mkdtemp(join(tmpdir(), "toys-"));
  onTestFinished(() => rm(modelsDir, { recursive: true, force: true }));
  const folder = join(modelsDir, "toy", "model");
  await mkdir(join(folder, "onnx"), { recursive: true });
  await cp(join(FIXTURES, `${tokenizer}.json`), join(folder, "tokenizer.json"));
  await cp(join(FIXTURES, `${graph}.onnx`), join(folder, "onnx/model_quantized.onnx"));
  const data = "model_quantized.onnx_data";
  if (graph === "apart") await cp(join(FIXTURES, data), join(folder, "onnx", data));
  const written = {
    "config.json": {
      model_type: "bert",
      hidden_size: 4,
      max_position_embeddings: 64,
      ...(graph === "apart" && { "transformers.js_config": { use_external_data_format: true } }),
    },
    "tokenizer_config.json": TOKENIZERS[tokenizer],
    ...files,
  };
  for (const [file, content] of Object.entries(written)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), JSON.stringify(content));
  }
  return { folder, source: { model: "toy/model", modelsDir } };
}
