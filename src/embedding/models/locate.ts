import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { failedPrecondition, invalid } from "../../errors.js";
import { type ConventionSettings, type FoundConvention, findConvention } from "./find-convention.js";
import {
  asObject,
  type ModelManifest,
  missingFiles,
  readJson,
  readManifest,
  type Verified,
  verifyModel,
} from "./model-files.js";
import { type ModelSource, pullModel } from "./pull.js";

/** Id of the model that comes with the program. */
export const BUNDLED = "bundled";

/** Pattern for `name` or `owner/name`, as the hub has them; it cannot lead out of the models folder. */
const MODEL_ID = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,95}(\/[A-Za-z0-9_][A-Za-z0-9._-]{0,95})?$/;

/**
 * Returns the model's folder, after downloading the files that it lacks.
 *
 * @throws MemoryError that says what to do.
 */
export async function locateModel(source: ModelSource): Promise<string> {
  const folder = folderOf(source);
  if (source.model === BUNDLED) return bundledOf(source, folder);
  if ((await missingFiles(folder)).length > 0) await pullModel(source, folder);
  return folder;
}

export function folderOf({ model, modelsDir }: Pick<ModelSource, "model" | "modelsDir">): string {
  if (model === BUNDLED) return join(packageRoot(), "models", BUNDLED);
  if (isModelId(model)) return resolve(modelsDir, model);
  throw invalid(
    "MODEL",
    `must be "${BUNDLED}", openai:NAME or a model's id, such as Xenova/all-MiniLM-L6-v2`,
  );
}

function isModelId(model: string): boolean {
  return MODEL_ID.test(model) && !model.includes("..");
}

/** Finds the program's own model, or the one of an earlier program that a database still has vectors of. */
async function bundledOf({ modelsDir, revision }: ModelSource, folder: string): Promise<string> {
  const earlier = resolve(modelsDir, BUNDLED);
  if (revision !== undefined && (await missingFiles(earlier)).length === 0) {
    if ((await verifyModel(earlier)).revision === revision) return earlier;
  }
  const missing = await missingFiles(folder);
  if (missing.length === 0) return folder;
  throw failedPrecondition(`the bundled model in ${folder} lacks ${missing.join(", ")}`);
}

/** Finds the folder of the nearest package.json above, the same one from src/ and from dist/src/. */
export function packageRoot(from = fileURLToPath(import.meta.url)): string {
  const folder = dirname(from);
  if (folder === from) throw new Error("no package.json above the program's files");
  return existsSync(join(folder, "package.json")) ? folder : packageRoot(folder);
}

/** Description of a model, made without loading it. */
export interface ModelSummary extends Verified {
  readonly model: string;
  readonly folder: string;
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
    // A link to a file, or a folder that is not for this program, such as lost+found, holds no model.
    const inner = await foldersIn(join(modelsDir, name)).catch((): string[] => []);
    const isModel = inner.includes("onnx");
    ids.push(...(isModel ? [name] : inner.map((each) => `${name}/${each}`)));
  }
  return [BUNDLED, ...ids.filter((id) => id !== BUNDLED && isModelId(id)).sort()];
}

/** Describes a model that is whole. @throws MemoryError when a file of the model cannot be read. */
export async function summarise({
  model,
  modelsDir,
  settings,
}: Pick<ModelSource, "model" | "modelsDir"> & { settings?: ConventionSettings }): Promise<ModelSummary> {
  const folder = folderOf({ model, modelsDir });
  const found = await findConvention({ model, folder, settings });
  const config = asObject(await readJson(folder, "config.json"));
  const size = config?.hidden_size ?? config?.d_model ?? config?.dim ?? config?.n_embd;
  return {
    model,
    folder,
    found,
    dimensions: found.convention.pooling !== "model" && typeof size === "number" ? size : undefined,
    ...(await verifyModel(folder)),
    manifest: await readManifest(folder),
  };
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return entries.flatMap((entry) => (entry.isDirectory() || entry.isSymbolicLink() ? [entry.name] : []));
}
