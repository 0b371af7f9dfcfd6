import { failedPrecondition } from "../errors.js";
import { isRemote } from "../memory/ports/embedder.js";
import { embedderOf, type OpenEmbedder } from "./embedder.js";
import { pinnedParts } from "./encode/convention.js";
import { type ConventionSettings, findConvention, settled } from "./models/find-convention.js";
import { locateModel } from "./models/locate.js";
import { verifyModel } from "./models/model-files.js";
import type { ModelSource } from "./models/pull.js";
import { isFast, MainThread } from "./pool/main-thread.js";
import { Pool } from "./pool/pool.js";
import { startThread } from "./pool/thread.js";
import type { LoadedModel } from "./pool/worker.js";
import { openRemote, type RemoteEvents, type RemoteSettings } from "./remote/open.js";

export interface EmbedderOptions extends ModelSource, RemoteEvents {
  /** Threads, each with the model in memory and at most one core busy. */
  readonly workers: number;
  /** Pooling, prefixes and window, where the operator knows better than the model's files. */
  readonly settings?: ConventionSettings | undefined;
  readonly remote?: RemoteSettings | undefined;
  /**
   * True if no call is under way but the one that asks, so that the main thread may read its text if
   * it is short and the model is fast. Without it the main thread reads none.
   */
  readonly isAlone?: (() => boolean) | undefined;
  /** Called when a thread is lost or cannot be started again. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

/**
 * Loads the model into worker threads, or opens the one that a server has.
 *
 * @throws MemoryError that says what to do when the model is missing, cannot be downloaded or cannot be
 * loaded. Another model never takes its place.
 */
export async function openEmbedder(options: EmbedderOptions): Promise<OpenEmbedder> {
  if (isRemote(options.model)) return openRemote(options);
  const folder = await locateModel(options);
  const found = await findConvention({ ...options, folder });
  const onDisk = { folder, convention: found.convention };
  let first: LoadedModel | undefined;
  const expectSame = (revision: string) => {
    if (revision !== first?.revision) throw new Error(`the files in ${folder} have changed since the start`);
  };
  // All threads hold the same model. After a change of its files the service must be restarted.
  const start = async () => {
    const { thread, loaded } = await startThread(onDisk);
    first ??= loaded;
    try {
      settled(found, loaded.pooling, options.settings);
      expectSame(loaded.revision);
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  };
  const { isAlone, workers, onTrouble } = options;
  const startMainThread = async () => {
    // Unless the threads found the model too slow for that.
    if (isAlone === undefined || first === undefined || !isFast(first.msPerCost)) return undefined;
    expectSame((await verifyModel(folder)).revision);
    // The library is large, and only a fast model needs it on the main thread.
    const { openEncoder } = await import("./encode/encoder.js");
    const encoder = await openEncoder(onDisk);
    // It takes the slow first run off the first caller.
    await encoder.encode({ text: "probe", field: "text" });
    return new MainThread(encoder, isAlone);
  };
  const pool = await Pool.open({ workers, start, startMainThread, onTrouble }).catch((error) => {
    const reason = error.cause?.message ?? error.message;
    const message = `model ${options.model} in ${folder} could not be loaded: ${reason}`;
    throw failedPrecondition(message, { cause: error });
  });
  const { revision, dimensions, pooling, scripts } = first as LoadedModel;
  const convention = settled(found, pooling);
  const parts = pinnedParts(convention.convention);
  const model = { id: options.model, revision, dtype: "q8", dimensions, ...parts };
  return embedderOf(pool, { model, convention, scripts });
}
