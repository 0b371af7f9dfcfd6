import { WorkerClient, type WorkerLostError } from "../../concurrency/worker-client.js";
import type { Encoded, ModelOnDisk, Question } from "../encode/encoder.js";
import type { EmbedWorker } from "./pool.js";
import type { EmbeddingHandlers, LoadedModel } from "./worker.js";

/** Time for loading a model of some hundred MB from a cold disk. */
const START_TIMEOUT_MS = 120_000;
/** Time after which a read counts as stuck, far above that of the longest text on a busy machine. */
const READ_TIMEOUT_MS = 30_000;

export interface ThreadOptions extends ModelOnDisk {
  readonly encodeTimeoutMs?: number;
}

/**
 * A worker thread with a model in it. It is ended only between two calls: onnxruntime's binding throws
 * where nothing catches and aborts the whole process if the thread ends inside a run (8 of 8 times with
 * onnxruntime-node 1.30) or, less often, while it loads.
 */
export class Thread implements EmbedWorker {
  onLost: (lost: WorkerLostError) => void = () => {};
  msPerCost = 0;
  readonly #worker = new WorkerClient<EmbeddingHandlers>({
    script: new URL("./worker.js", import.meta.url),
    name: "embedding",
    onLost: (lost) => this.onLost(lost),
  });

  private constructor(private readonly encodeTimeoutMs: number) {}

  /** Starts a thread and waits until its model is loaded. @throws Error with the reason as its cause. */
  static async start({ encodeTimeoutMs = READ_TIMEOUT_MS, ...onDisk }: ThreadOptions) {
    const thread = new Thread(encodeTimeoutMs);
    const loaded = await thread.#load(onDisk);
    thread.msPerCost = loaded.msPerCost;
    return { thread, loaded };
  }

  get ended(): Promise<unknown> {
    return this.#worker.ended;
  }

  encode(question: Question): Promise<Encoded> {
    return this.#worker.call("encode", question, { timeoutMs: this.encodeTimeoutMs });
  }

  /** Ends the thread, which must not be reading. */
  close(): Promise<void> {
    return this.#worker.close();
  }

  async #load(onDisk: ModelOnDisk): Promise<LoadedModel> {
    try {
      return await this.#worker.call("load", onDisk, { timeoutMs: START_TIMEOUT_MS });
    } catch (error) {
      // A stuck thread still loads, and ends by itself.
      if (!this.#worker.isLost) await this.#worker.close();
      const { message } = error as Error;
      throw new Error(`an embedding thread did not load the model: ${message}`, { cause: error });
    }
  }
}
