import { Worker } from "node:worker_threads";
import { unavailable } from "../errors.js";
import type { Answer, Reply, Request } from "./index-worker.js";

/** Maximum number of requests that wait for a thread before more are refused. */
export const WAITING_MAX = 1024;
/** Time without a request after which the thread ends. */
const IDLE_MS = 30_000;

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** A thread for work on graphs, which starts when it is needed and ends when it is not. */
export class IndexThread {
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** @param background lets all other threads go first */
  constructor(private readonly background = false) {}

  /**
   * Does one piece of work after all earlier ones.
   *
   * @throws MemoryError `unavailable` if too much waits already; any other error is the thread's.
   */
  async ask(request: Request): Promise<Answer> {
    if (this.#waiting.length >= WAITING_MAX) throw unavailable("too much waits for this index");
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      worker.postMessage(request, request.op === "add" ? [request.vectors.buffer as ArrayBuffer] : []);
    });
  }

  /** Ends the thread; what it was asked for fails. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./index-worker.js", import.meta.url), {
      name: "index",
      workerData: { background: this.background },
    });
    worker.unref();
    const fail = (error: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    };
    worker.on("message", (reply: Reply) => this.#settle(reply));
    worker.on("messageerror", fail);
    worker.on("error", fail);
    worker.on("exit", () => fail(new Error("the index thread ended")));
    return worker;
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.shift();
    if ("error" in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply);
    if (this.#waiting.length > 0) return;
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
  }

  /** Ends a thread that has nothing to do; the next request starts another one. */
  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}
