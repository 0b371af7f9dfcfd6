import { existsSync } from "node:fs";
import { join } from "node:path";
import { unavailable } from "../errors.js";
import { downloadFile } from "./download.js";
import { NotThere, reasonOf } from "./hub.js";
import { noteDownload, readManifest } from "./manifest.js";
import { MODEL_FILES, OPTIONAL_FILES, requiredFiles } from "./model-files.js";
import { type ProgressBar, progressBar } from "./progress.js";

export const HUB = "https://huggingface.co";

export interface Pull {
  readonly model: string;
  readonly folder: string;
  readonly hub?: string | undefined;
  /** Told of every piece downloaded, in place of the bar on stderr. */
  readonly progress?: ProgressBar | undefined;
}

type Complete = { readonly [key in keyof Pull]-?: NonNullable<Pull[key]> };

/**
 * Downloads what a model's folder lacks.
 *
 * @throws MemoryError that says what to do.
 */
export async function pullModel(pull: Pull): Promise<void> {
  const { model, folder, hub = HUB, progress = progressBar(process.stderr) } = pull;
  try {
    // It says which files there are.
    await pullFiles({ ...pull, hub, progress }, ["config.json"]);
    // The weights come last: once they are there, nothing is asked for again.
    await pullFiles({ ...pull, hub, progress }, [...OPTIONAL_FILES, ...(await requiredFiles(folder))]);
  } catch (error) {
    throw refusal(error, { model, folder, hub });
  } finally {
    progress.end();
  }
}

async function pullFiles(pull: Complete, files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (!existsSync(join(pull.folder, file))) await pullFile(pull, file);
  }
}

async function pullFile({ model, folder, hub, progress }: Complete, file: string): Promise<void> {
  // All of one state of the repository, even if it changes meanwhile.
  const commit = (await readManifest(folder))?.commit ?? "main";
  try {
    const downloaded = await downloadFile({
      url: `${hub}/${model}/resolve/${commit}/${file}`,
      path: join(folder, file),
      onProgress: (bytes) => progress.report({ file: `${model}/${file}`, ...bytes }),
    });
    if (downloaded !== undefined) await noteDownload(folder, { file, downloaded, model, hub });
  } catch (error) {
    if (error instanceof NotThere && isOptional(file)) return;
    throw error;
  }
}

function isOptional(file: string): boolean {
  return (OPTIONAL_FILES as readonly string[]).includes(file);
}

function refusal(error: unknown, { model, folder, hub }: { model: string; folder: string; hub: string }) {
  const reason = reasonOf(error);
  if ((error as NodeJS.ErrnoException).code === "ENOSPC") {
    const advice = "Make room there, or set MODELS_DIR to another disk; what came is kept";
    return unavailable(`model ${model} could not be downloaded to ${folder}: ${reason}. ${advice}`, error);
  }
  return unavailable(
    `model ${model} is not in ${folder} and could not be downloaded from ${hub}: ${reason}. ` +
      `Put its files there (${MODEL_FILES.join(", ")}), or set MODELS_DIR to a folder ` +
      `that has ${model}, or start with MODEL=bundled`,
    error,
  );
}
