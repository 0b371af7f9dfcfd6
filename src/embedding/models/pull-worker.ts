import type { MessagePort } from "node:worker_threads";
import { AutoModel, AutoTokenizer, env, LogLevel, type ProgressInfo } from "@xenova/transformers";
import { handleCalls } from "../../concurrency/worker-handlers.js";

// Transformers.js downloads what it loads, and an error while it writes ends the thread.

env.allowLocalModels = false;
env.logLevel = LogLevel.NONE;

export interface Progress {
  readonly file: string;
  readonly bytes: number;
  /** Size of the whole file; absent when the server does not tell it. */
  readonly bytesTotal?: number | undefined;
}

export interface Load {
  readonly model: string;
  readonly modelsDir: string;
  readonly hub: string;
  /** Commit or branch of the model's repository. */
  readonly revision: string;
  /** Receives a `Progress` for each downloaded piece. */
  readonly progress: MessagePort;
}

/** Loads a model, which downloads the files that its folder lacks, and frees its memory. */
async function load({ model, modelsDir, hub, revision, progress }: Load): Promise<void> {
  env.remoteHost = hub;
  // The revision is no part of a file's path on the disk then.
  env.remotePathTemplate = `{model}/resolve/${revision}/`;
  const report = (info: ProgressInfo) => {
    if (info.status !== "progress") return;
    const { name, file, loaded: bytes, total: bytesTotal } = info;
    progress.postMessage({ file: `${name}/${file}`, bytes, bytesTotal } satisfies Progress);
  };
  const options = { cache_dir: modelsDir, progress_callback: report };
  await AutoTokenizer.from_pretrained(model, options);
  const loaded = await AutoModel.from_pretrained(model, { ...options, dtype: "q8", device: "cpu" });
  await loaded.dispose();
}

const handlers = { load };
export type PullHandlers = typeof handlers;
handleCalls(handlers);
