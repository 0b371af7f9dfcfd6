import { existsSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { WorkerClient } from "../../concurrency/worker-client.js";
import { unavailable } from "../../errors.js";
import { makeFolder } from "../../make-folder.js";
import { barOf, ProgressLine, type Screen } from "../../progress.js";
import {
  MODEL_FILES,
  type ModelManifest,
  missingFiles,
  OPTIONAL_FILES,
  readManifest,
  requiredFiles,
  sha256Of,
  WEIGHTS_FILE,
  writeManifest,
  writeWhole,
} from "./model-files.js";
import type { Progress, PullHandlers } from "./pull-worker.js";

export interface ProgressBar {
  report(progress: Progress): void;
  /** Ends the line of a bar that has not reached its end. */
  end(): void;
}

export const HUB = "https://huggingface.co";
/** Time for one of the small files that describe a model. */
const SMALL_TIMEOUT_MS = 30_000;
/** Age from which a file of a transfer counts as abandoned: a live one is written more often. */
const ABANDONED_MS = 600_000;

export interface ModelSource {
  /** Id of the model: `bundled`, or the hub's id, such as `Xenova/all-MiniLM-L6-v2`. */
  readonly model: string;
  /** Folder for models other than the bundled one, which is also the target of downloads. */
  readonly modelsDir: string;
  /** Revision that a database has vectors of; of the bundled model, an earlier one may be in `modelsDir`. */
  readonly revision?: string | undefined;
  /** Address of the hub; Hugging Face's when left out. */
  readonly hub?: string | undefined;
  /** Receives the progress of a download; a bar on stderr when left out. */
  readonly progress?: ProgressBar | undefined;
  /** Aborted when nobody waits for a download any more: it ends with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Downloads what a model's folder lacks, of one commit of its repository. A file gets its name only when it
 * is whole; its hash is noted when the model first loads, and what comes later must have the same.
 *
 * @throws MemoryError that says what to do.
 */
export async function pullModel(source: ModelSource, folder: string): Promise<void> {
  const { model, hub = HUB, progress = progressBar(process.stderr), signal } = source;
  try {
    await removeAbandoned(folder);
    const lacking = new Set(await missingFiles(folder));
    const manifest = await pullDescription({ model, hub, folder, signal });
    const failed = await load({ ...source, hub, progress }, manifest).then(
      () => undefined,
      (error: unknown) => error,
    );
    // Transformers.js goes on without a file that it could not write.
    const [lost] = await missingFiles(folder);
    if (lost !== undefined) throw failed ?? new Error(`${lost} has not come`);
    // If all files have come, what loads the model says why it does not load.
    await note(folder, { manifest, lacking, loads: failed === undefined });
  } catch (error) {
    signal?.throwIfAborted();
    throw refusal(error, { model, folder, hub });
  } finally {
    progress.end();
  }
}

/** Fetches the files that describe a model, and pins the commit that all files come from. */
async function pullDescription({
  model,
  hub,
  folder,
  signal,
}: { hub: string; folder: string } & Pick<ModelSource, "model" | "signal">) {
  let manifest: ModelManifest = (await readManifest(folder)) ?? { model, hub, files: {} };
  for (const file of ["config.json", ...OPTIONAL_FILES]) {
    const path = join(folder, file);
    if (existsSync(path)) continue;
    const url = `${hub}/${model}/resolve/${manifest.commit ?? "main"}/${file}`;
    const timeout = AbortSignal.timeout(SMALL_TIMEOUT_MS);
    const response = await fetch(url, { signal: signal ? AbortSignal.any([timeout, signal]) : timeout });
    const content = new Uint8Array(await response.arrayBuffer());
    // The hub answers 401 for what does not exist, so that it does not reveal what is private.
    const isThere = ![401, 403, 404].includes(response.status);
    if (!isThere && file !== "config.json") continue;
    if (!response.ok) {
      const http = `HTTP ${response.status}`;
      throw new Error(`${url} ${isThere ? `answered ${http}` : `does not exist or is not public (${http})`}`);
    }
    // Only the hub's own files are JSON. Any other answer, if it was stored, would make all later attempts fail.
    try {
      JSON.parse(Buffer.from(content).toString());
    } catch {
      throw new Error(`${url} is not JSON; a proxy or a page to sign in may be in between`);
    }
    makeFolder(dirname(path), 0o777);
    manifest = { ...manifest, commit: manifest.commit ?? response.headers.get("x-repo-commit") ?? undefined };
    // Before the file: if this process is killed in between, the others must not come of another commit.
    await writeManifest(folder, manifest);
    await writeWhole(path, content);
  }
  return manifest;
}

/** Has a thread load the model: to open a session takes seconds, and a full disk ends the thread. */
async function load(
  { model, modelsDir, hub, progress, signal }: ModelSource & { hub: string; progress: ProgressBar },
  { commit: revision = "main" }: ModelManifest,
): Promise<void> {
  const worker = new WorkerClient<PullHandlers>({
    script: new URL("./pull-worker.js", import.meta.url),
    name: "download",
  });
  const { port1, port2 } = new MessageChannel();
  port1.on("message", (each) => progress.report(each));
  const message = { model, modelsDir, hub, revision, progress: port2 };
  const end = () => void worker.close();
  signal?.throwIfAborted();
  signal?.addEventListener("abort", end);
  try {
    await worker.call("load", message, { transfer: [port2] });
  } finally {
    signal?.removeEventListener("abort", end);
    await worker.close();
    port1.close();
  }
}

/**
 * Notes the hashes of files that have none, if the model loads: the end of a transfer may be missing. Deletes a file
 * that came now and differs from what came first.
 */
async function note(
  folder: string,
  { manifest, lacking, loads }: { manifest: ModelManifest; lacking: ReadonlySet<string>; loads: boolean },
): Promise<void> {
  const files: Record<string, string> = { ...manifest.files };
  for (const file of [...(await requiredFiles(folder)), ...OPTIONAL_FILES]) {
    const path = join(folder, file);
    if (!existsSync(path)) continue;
    const hash = await sha256Of(path);
    if (loads) files[file] ??= hash;
    if ((files[file] ?? hash) === hash || !lacking.has(file)) continue;
    await rm(path);
    throw new Error(`${file} does not match the hash of its first download`);
  }
  await writeManifest(folder, { ...manifest, files });
}

/** Removes what killed transfers have left. */
async function removeAbandoned(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const names = await readdir(folder, { recursive: true });
  for (const path of names.filter((name) => /\.tmp\.[^/]*$/.test(name)).map((name) => join(folder, name))) {
    // Another process may have finished or removed it.
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
}

function refusal(error: unknown, { model, folder, hub }: { model: string; folder: string; hub: string }) {
  const reason = reasonOf(error);
  if (/^(ENOSPC|EDQUOT|EFBIG)\b/.test(reason)) {
    const advice = "Make room there, or set MODELS_DIR to another disk";
    return unavailable(`model ${model} could not be downloaded to ${folder}: ${reason}. ${advice}`, error);
  }
  const isWeights = reason.includes(WEIGHTS_FILE) && reason.startsWith("Could not locate file");
  const conversion = isWeights ? " The model has no 8-bit weights there; another conversion of it may." : "";
  return unavailable(
    `model ${model} is not in ${folder} and could not be downloaded from ${hub}: ${reason}.${conversion} ` +
      `Put its files there (${MODEL_FILES.join(", ")}), or set MODELS_DIR to a folder ` +
      `that has ${model}, or start with MODEL=bundled`,
    error,
  );
}

/** Finds the reason of an error, which fetch hides one or two causes deep. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return (error.message || (error as NodeJS.ErrnoException).code || error.name).replace(/\.$/, "");
}

/** Draws a bar in place on a terminal, ten times a second, and a plain line every 5 seconds elsewhere. */
export function progressBar(screen: Screen, now: () => number = () => performance.now()): ProgressBar {
  const line = new ProgressLine(screen, { redrawMs: 100, lineEveryMs: 5000, now });
  return {
    report: (progress) =>
      line.show(progressText(progress), { isLast: progress.bytes === progress.bytesTotal }),
    end: () => line.end(),
  };
}

/** Progress of a file, such as `X/y/onnx/model.onnx [############            ]  50 %  11.6 of 23.3 MB`. */
export function progressText({ file, bytes, bytesTotal }: Progress): string {
  if (!bytesTotal) return `${file} ${megabytes(bytes)} MB`;
  return `${file} ${barOf(bytes / bytesTotal)}  ${megabytes(bytes)} of ${megabytes(bytesTotal)} MB`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
