import type { SerialQueue } from "../../concurrency/serial-queue.js";
import { WorkerClient } from "../../concurrency/worker-client.js";
import type { IndexHandlers } from "./index-worker.js";

/** Maximum number of requests that wait for a thread before more are refused. */
export const WAITING_MAX = 1024;
/** Time without a request after which the thread ends. */
const IDLE_MS = 30_000;

/** A thread for work on graphs, which starts when it is needed and ends when it is not. */
export type IndexThread = WorkerClient<IndexHandlers>;

/** The threads that all indexes share, each for what the others must not wait for. */
export interface IndexThreads {
  /** Searches where that takes long. */
  readonly thread: IndexThread;
  /** Reads whole files, which takes up to a second each. */
  readonly reader: IndexThread;
  /** Does what no call waits for, and lets all others go first. */
  readonly background: IndexThread;
  /** Has the last one build one graph after the other. */
  readonly enqueueBuild: SerialQueue;
}

/** @param background lets all other threads go first */
export function openIndexThread({ background }: { background: boolean }): IndexThread {
  return new WorkerClient({
    script: new URL("./index-worker.js", import.meta.url),
    name: "index",
    workerData: { background },
    callsMax: WAITING_MAX,
    idleMs: IDLE_MS,
  });
}
