import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type ConventionSettings, type FoundConvention, findConvention } from "./find-convention.js";
import { BUNDLED, folderOf, isModelId } from "./locate.js";
import { type ModelManifest, readManifest } from "./manifest.js";
import { OPTIONAL_FILES, requiredFiles, type Verified, verifyModel } from "./model-files.js";
import { asObject, readJson } from "./model-json.js";

/** Description of a model, made without loading it. */
export interface ModelSummary extends Verified {
  readonly model: string;
  readonly folder: string;
  readonly bytes: number;
  /** Number of dimensions in its config.json; undefined when the vector is not made of its states. */
  readonly dimensions: number | undefined;
  readonly found: FoundConvention;
  /** Record of the download; absent when the folder was not filled by one. */
  readonly manifest: ModelManifest | undefined;
}

/** Lists the ids of the bundled model and of all models in `modelsDir`, whole or not. */
export async function listModels(modelsDir: string): Promise<string[]> {
  const ids: string[] = [];
  for (const name of await foldersIn(modelsDir)) {
    const inner = await foldersIn(join(modelsDir, name));
    const isModel = inner.includes("onnx");
    ids.push(...(isModel ? [name] : inner.map((each) => `${name}/${each}`)));
  }
  return [BUNDLED, ...ids.filter((id) => id !== BUNDLED && isModelId(id)).sort()];
}

/** Describes a model that is whole. @throws MemoryError when a file of the model cannot be read. */
export async function summarise({
  settings,
  ...place
}: {
  model: string;
  modelsDir: string;
  settings?: ConventionSettings | undefined;
}): Promise<ModelSummary> {
  const folder = folderOf(place);
  const found = await findConvention({ model: place.model, folder, settings });
  const config = asObject(await readJson(folder, "config.json"));
  const size = config?.hidden_size ?? config?.d_model ?? config?.dim ?? config?.n_embd;
  return {
    model: place.model,
    folder,
    found,
    bytes: await bytesOf(folder),
    dimensions: found.convention.pooling !== "model" && typeof size === "number" ? size : undefined,
    ...(await verifyModel(folder)),
    manifest: await readManifest(folder),
  };
}

async function bytesOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const file of [...(await requiredFiles(folder)), ...OPTIONAL_FILES]) {
    bytes += await stat(join(folder, file)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return bytes;
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return entries.flatMap((entry) => (entry.isDirectory() || entry.isSymbolicLink() ? [entry.name] : []));
}
