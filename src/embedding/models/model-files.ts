import { createHash, randomBytes } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { failedPrecondition } from "../../errors.js";

/** Reads a JSON file of a model; returns undefined if it is missing. */
export async function readJson(folder: string, file: string): Promise<unknown> {
  const path = join(folder, file);
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    throw failedPrecondition(`${path} is not JSON`, { cause: error });
  }
}

export function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** Name of the record that a download leaves beside a model's files; a folder copied by hand has none. */
const MANIFEST_FILE = "recalld-manifest.json";

/** Record of the files that were downloaded for a model, and of their source. */
export interface ModelManifest {
  readonly model: string;
  readonly hub: string;
  /** Commit of the model's repository; absent if the hub names none. */
  readonly commit?: string | undefined;
  /** SHA-256 in hex of each file as it came first. */
  readonly files: Readonly<Record<string, string>>;
}

export async function readManifest(folder: string): Promise<ModelManifest | undefined> {
  const manifest = await readJson(folder, MANIFEST_FILE);
  if (manifest === undefined || isManifest(manifest)) return manifest;
  throw failedPrecondition(`${join(folder, MANIFEST_FILE)} is not as it was written`);
}

function isManifest(value: unknown): value is ModelManifest {
  const { model, hub, commit = "", files } = asObject(value) ?? {};
  const hashes = asObject(files);
  return (
    [model, hub, commit].every((each) => typeof each === "string") &&
    hashes !== undefined &&
    Object.values(hashes).every((hash) => /^[0-9a-f]{64}$/.test(`${hash}`))
  );
}

export function writeManifest(folder: string, manifest: ModelManifest): Promise<void> {
  return writeWhole(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Writes a file that is never seen in part, also if another process writes it at the same moment. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.tmp.${randomBytes(4).toString("hex")}`;
  await writeFile(draft, content);
  await rename(draft, path);
}

export const WEIGHTS_FILE = "onnx/model_quantized.onnx";

/** Files that every model has, in the layout of Transformers.js and the hub. The largest comes last. */
export const MODEL_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", WEIGHTS_FILE] as const;

/**
 * Files in which sentence-transformers describes a model. They are optional.
 * https://sbert.net/docs/package_reference/sentence_transformer/models.html
 */
export const POOLING_FILE = "1_Pooling/config.json";
export const PROMPTS_FILE = "config_sentence_transformers.json";
export const MODULES_FILE = "modules.json";
export const WINDOW_FILE = "sentence_bert_config.json";

/** Files that describe a model's convention. Converted models often lack them. */
export const OPTIONAL_FILES = [MODULES_FILE, POOLING_FILE, PROMPTS_FILE, WINDOW_FILE] as const;

/** Maximum number of files for the weights; no model has that many. */
const PARTS_MAX = 100;

/** Lists the files that the service reads of a model, according to its config.json if that exists. */
export async function requiredFiles(folder: string): Promise<string[]> {
  return [...MODEL_FILES, ...(await weightParts(folder))];
}

/** Lists the files that a model lacks, those included that were downloaded once. */
export async function missingFiles(folder: string): Promise<string[]> {
  return (await knownFiles(folder)).filter((file) => !existsSync(join(folder, file)));
}

async function knownFiles(folder: string): Promise<string[]> {
  const { files = {} } = (await readManifest(folder)) ?? {};
  return [...new Set([...(await requiredFiles(folder)), ...Object.keys(files)])];
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

/** Result of reading all files of a model that lacks none. */
export interface Verified {
  /**
   * SHA-256 over the names and contents of the files that make the model's vectors, in hex. By hand, in the
   * folder: `sha256sum config.json onnx/model_quantized.onnx* tokenizer.json tokenizer_config.json | sha256sum`.
   */
  readonly revision: string;
  readonly bytes: number;
  /** Files that are not as they were downloaded. */
  readonly damaged: readonly string[];
}

/** Compares a model's files with the hashes of its download, if it has a record of one. */
export async function verifyModel(folder: string): Promise<Verified> {
  const { files = {} } = (await readManifest(folder)) ?? {};
  const required = await requiredFiles(folder);
  const revision = createHash("sha256");
  const damaged: string[] = [];
  let bytes = 0;
  for (const file of (await knownFiles(folder)).sort()) {
    const path = join(folder, file);
    const hash = await sha256Of(path);
    bytes += (await stat(path)).size;
    if (required.includes(file)) revision.update(`${hash}  ${file}\n`);
    if (files[file] !== undefined && files[file] !== hash) damaged.push(file);
  }
  return { revision: revision.digest("hex"), bytes, damaged };
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
