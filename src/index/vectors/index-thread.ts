import { WorkerClient } from "../../concurrency/worker-client.js";
import type { IndexHandlers } from "./index-worker.js";

/** Maximum number of requests that wait for a thread before more are refused. */
export const WAITING_MAX = 1024;
/** Time without a request after which the thread ends. */
const IDLE_MS = 30_000;

/** A thread for work on graphs, which starts when it is needed and ends when it is not. */
export type IndexThread = WorkerClient<IndexHandlers>;

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
