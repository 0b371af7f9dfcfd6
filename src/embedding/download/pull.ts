import { existsSync } from "node:fs";
import { join } from "node:path";
import { unavailable } from "../../errors.js";
import { downloadFile } from "./download.js";
import { NotThere, reasonOf } from "./hub.js";
import { type FileRecord, noteDownloads, readManifest } from "./manifest.js";
import { MODEL_FILES, OPTIONAL_FILES, requiredFiles, WEIGHTS_FILE } from "./model-files.js";
import { type ProgressBar, progressBar } from "./progress.js";

export const HUB = "https://huggingface.co";

export interface Pull {
  readonly model: string;
  readonly folder: string;
  readonly hub?: string | undefined;
  /** Receives every downloaded piece; a bar on stderr when left out. */
  readonly progress?: ProgressBar | undefined;
}

/**
 * Downloads what a model's folder lacks.
 *
 * @throws MemoryError that says what to do.
 */
export async function pullModel({
  model,
  folder,
  hub = HUB,
  progress = progressBar(process.stderr),
}: Pull): Promise<void> {
  const pulling = new Pulling({ model, folder, hub, progress });
  try {
    // It tells which files the model has.
    await pulling.bring(["config.json"]);
    // The weights come last: once they are there, nothing is asked for again.
    await pulling.bring([...OPTIONAL_FILES, ...(await requiredFiles(folder))]);
  } catch (error) {
    throw refusal(error, { model, folder, hub });
  } finally {
    progress.end();
  }
}

type Complete = { readonly [key in keyof Pull]-?: NonNullable<Pull[key]> };

class Pulling {
  readonly #pull: Complete;
  readonly #files: Record<string, FileRecord> = {};
  #commit: string | undefined;

  constructor(pull: Complete) {
    this.#pull = pull;
  }

  async bring(files: readonly string[]): Promise<void> {
    // All files come from one commit, even if the repository changes meanwhile or after a break.
    this.#commit ??= (await readManifest(this.#pull.folder))?.commit;
    for (const file of files) {
      if (!existsSync(join(this.#pull.folder, file))) await this.#bringOne(file);
    }
  }

  async #bringOne(file: string): Promise<void> {
    const { model, folder, hub, progress } = this.#pull;
    try {
      const downloaded = await downloadFile({
        url: `${hub}/${model}/resolve/${this.#commit ?? "main"}/${file}`,
        path: join(folder, file),
        onProgress: (bytes) => progress.report({ file: `${model}/${file}`, ...bytes }),
      });
      if (downloaded === undefined) return;
      const { commit, ...record } = downloaded;
      this.#commit ??= commit;
      this.#files[file] = record;
      const known = this.#commit === undefined ? {} : { commit: this.#commit };
      await noteDownloads(folder, { model, hub, ...known, files: this.#files });
    } catch (error) {
      if (!(error instanceof NotThere)) throw error;
      if (isOptional(file)) return;
      if (file !== WEIGHTS_FILE || this.#commit === undefined) throw error;
      const advice = "the model has no 8-bit weights there; another conversion of it may";
      throw new NotThere(`${error.message}: ${advice}`);
    }
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
