import { WorkerClient, type WorkerLostError } from "../../concurrency/worker-client.js";
import type { ModelOnDisk, Question } from "../encode/encoder.js";
import type { EmbeddingHandlers } from "./worker.js";

/** Time for loading a model of some hundred MB from a cold disk. */
const START_TIMEOUT_MS = 120_000;
/** Time after which a read counts as stuck, far above that of the longest text on a busy machine. */
const READ_TIMEOUT_MS = 30_000;

/**
 * Starts a worker thread and waits until its model is loaded. It must be closed only between two calls:
 * onnxruntime's binding throws where nothing catches and aborts the whole process if the thread ends inside a run
 * (8 of 8 times with onnxruntime-node 1.30) or, less often, while it loads.
 *
 * @throws Error with the reason as its cause.
 */
export async function startThread(onDisk: ModelOnDisk, encodeTimeoutMs = READ_TIMEOUT_MS) {
  const worker = new WorkerClient<EmbeddingHandlers>({
    script: new URL("./worker.js", import.meta.url),
    name: "embedding",
    onLost: (lost) => thread.onLost(lost),
  });
  const thread = {
    onLost: (_: WorkerLostError) => {},
    msPerCost: 0,
    get ended() {
      return worker.ended;
    },
    encode: (question: Question) => worker.call("encode", question, { timeoutMs: encodeTimeoutMs }),
    close: () => worker.close(),
  };
  try {
    const loaded = await worker.call("load", onDisk, { timeoutMs: START_TIMEOUT_MS });
    thread.msPerCost = loaded.msPerCost;
    return { thread, loaded };
  } catch (error) {
    // A stuck thread still loads, and ends by itself.
    await worker.close();
    const { message } = error as Error;
    throw new Error(`an embedding thread did not load the model: ${message}`, { cause: error });
  }
}
