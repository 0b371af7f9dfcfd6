import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "./digest.js";

/** All that is read of a model, in the layout that Transformers.js and the hub have. */
export const MODEL_FILES = [
  "config.json",
  "onnx/model_quantized.onnx",
  "tokenizer.json",
  "tokenizer_config.json",
] as const;

export function missingFiles(folder: string): string[] {
  return MODEL_FILES.filter((file) => !existsSync(join(folder, file)));
}

/**
 * SHA-256 over the names and contents of the model's files, in hex. By hand, in the folder:
 * `sha256sum config.json onnx/model_quantized.onnx tokenizer.json tokenizer_config.json | sha256sum`.
 */
export async function revisionOf(folder: string): Promise<string> {
  const revision = createHash("sha256");
  for (const file of MODEL_FILES) {
    const { hex } = await digestOf(join(folder, file), "sha256");
    revision.update(`${hex}  ${file}\n`);
  }
  return revision.digest("hex");
}
