import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { asObject, readJson } from "../convention/model-json.js";
import {
  MODULES_FILE,
  POOLING_FILE,
  PROMPTS_FILE,
  WINDOW_FILE,
} from "../convention/sentence-transformers.js";
import { digestOf } from "./digest.js";

export const WEIGHTS_FILE = "onnx/model_quantized.onnx";

/** Files that every model has, in the layout of Transformers.js and the hub. The largest comes last. */
export const MODEL_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", WEIGHTS_FILE] as const;

/** Files that describe a model's convention. Converted models often lack them. */
export const OPTIONAL_FILES = [MODULES_FILE, POOLING_FILE, PROMPTS_FILE, WINDOW_FILE] as const;

/** Maximum number of files for the weights; no model has that many. */
const PARTS_MAX = 100;

/** Lists the files that the service reads of a model, according to its config.json if that exists. */
export async function requiredFiles(folder: string): Promise<string[]> {
  return [...MODEL_FILES, ...(await weightParts(folder))];
}

export async function missingFiles(folder: string): Promise<string[]> {
  return (await requiredFiles(folder)).filter((file) => !existsSync(join(folder, file)));
}

/** Lists the files beside the graph that hold a large model's weights; config.json tells their number. */
async function weightParts(folder: string): Promise<string[]> {
  const config = asObject(asObject(await readJson(folder, "config.json"))?.["transformers.js_config"]);
  const said = config?.use_external_data_format;
  const parts = Number(asObject(said)?.["model_quantized.onnx"] ?? asObject(said)?.model ?? said);
  return Array.from({ length: Math.min(parts || 0, PARTS_MAX) }, (_, i) =>
    i === 0 ? `${WEIGHTS_FILE}_data` : `${WEIGHTS_FILE}_data_${i}`,
  );
}

/**
 * Computes the SHA-256 over the names and contents of the files that make the model's vectors, in hex.
 * By hand, in the folder: `sha256sum config.json onnx/model_quantized.onnx* tokenizer.json
 * tokenizer_config.json | sha256sum`.
 */
export async function revisionOf(folder: string): Promise<string> {
  const revision = createHash("sha256");
  for (const file of (await requiredFiles(folder)).sort()) {
    const { hex } = await digestOf(join(folder, file), "sha256");
    revision.update(`${hex}  ${file}\n`);
  }
  return revision.digest("hex");
}
