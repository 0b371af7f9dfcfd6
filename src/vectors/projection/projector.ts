import { Worker } from "node:worker_threads";
import { unavailable } from "../../errors.js";
import type { Projector } from "../../memory/ports/projector.js";

/** Maximum number of waiting projections, each of up to 5,000 vectors. */
const WAITING_MAX = 8;

interface PendingProjection {
  resolve(places: Float32Array): void;
  reject(error: unknown): void;
}

/** Projects in its own thread, one request after the other; the first request starts the thread. */
export class ThreadProjector implements Projector {
  readonly #waiting: PendingProjection[] = [];
  #worker: Worker | undefined;

  async project(of: Parameters<Projector["project"]>[0]): Promise<Float32Array> {
    if (this.#waiting.length >= WAITING_MAX) throw unavailable("too many maps are being drawn");
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      worker.postMessage(of, [of.rows.buffer as ArrayBuffer]);
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./pca-worker.js", import.meta.url));
    worker.unref();
    worker.on("message", (places: Float32Array) => this.#waiting.shift()?.resolve(places));
    worker.on("error", (error) => this.#fail(worker, error));
    worker.on("exit", () => this.#fail(worker, unavailable("the thread that draws maps ended")));
    return worker;
  }

  /**
   * Fails all requests of a thread. The next projection starts another thread, which the late end of
   * this one must not affect.
   */
  #fail(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
