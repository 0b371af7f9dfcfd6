import { join, resolve } from "node:path";
import { invalid, MemoryError, unavailable } from "../errors.js";
import { downloadFile } from "./download.js";
import { reasonOf } from "./hub.js";
import { MODEL_FILES, missingFiles } from "./model-files.js";
import { packageRoot } from "./package-root.js";
import { type OnProgress, progressBar } from "./progress.js";

/** The model that comes with the program. */
export const BUNDLED = "bundled";

/** `name` or `owner/name` as the hub has them; never a way out of the models folder. */
const MODEL_ID = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,95}(\/[A-Za-z0-9_][A-Za-z0-9._-]{0,95})?$/;

export interface ModelPlace {
  /** `bundled`, or the hub's id of a model, such as `Xenova/all-MiniLM-L6-v2`. */
  readonly model: string;
  /** Where models other than the bundled one are looked up, and downloaded to. */
  readonly modelsDir: string;
  readonly hubUrl?: string | undefined;
  /** Told of every piece downloaded, in place of the bar on stderr. */
  readonly onProgress?: OnProgress | undefined;
}

/**
 * The folder that holds all files of the model, after downloading those that it lacks.
 *
 * @throws MemoryError that says what to do.
 */
export async function locateModel(place: ModelPlace): Promise<string> {
  if (place.model === BUNDLED) return bundledFolder();
  if (!MODEL_ID.test(place.model) || place.model.includes("..")) {
    throw invalid("MODEL", `must be "${BUNDLED}" or a model's id, such as Xenova/all-MiniLM-L6-v2`);
  }
  const folder = resolve(place.modelsDir, place.model);
  const missing = missingFiles(folder);
  if (missing.length > 0) await download(place, { folder, missing });
  return folder;
}

function bundledFolder(): string {
  const folder = join(packageRoot(), "models", BUNDLED);
  const missing = missingFiles(folder);
  if (missing.length === 0) return folder;
  throw new MemoryError("failed_precondition", `the bundled model in ${folder} lacks ${missing.join(", ")}`);
}

async function download(
  { model, hubUrl = "https://huggingface.co", onProgress = progressBar(process.stderr) }: ModelPlace,
  { folder, missing }: { folder: string; missing: readonly string[] },
): Promise<void> {
  try {
    for (const file of missing) {
      await downloadFile({
        url: `${hubUrl}/${model}/resolve/main/${file}`,
        path: join(folder, file),
        onProgress: (progress) => onProgress({ file: `${model}/${file}`, ...progress }),
      });
    }
  } catch (error) {
    throw unavailable(
      `model ${model} is not in ${folder} and could not be downloaded from ${hubUrl}: ${reasonOf(error)}. ` +
        `Put its files there (${MODEL_FILES.join(", ")}), or set MODELS_DIR to a folder ` +
        `that has ${model}, or start with MODEL=${BUNDLED}`,
      error,
    );
  }
}
