import { Worker } from "node:worker_threads";
import { unavailable } from "../errors.js";
import type { Answered, Asked, Request } from "./requests.js";

/** Maximum number of requests that wait for the thread before searches are refused. */
export const WAITING_MAX = 1024;

interface Waiter {
  resolve(answered: Answered): void;
  reject(error: unknown): void;
}

/** A thread that holds all large indexes. When it ends they are lost, and every request for them fails. */
export class Thread {
  readonly #worker = new Worker(new URL("./words-worker.js", import.meta.url));
  readonly #waiting = new Map<number, Waiter>();
  #failure: Error | undefined;
  #asked = 0;
  #indexes = 0;

  constructor() {
    this.#worker.unref();
    this.#worker.on("message", (answered: Answered) => this.#settle(answered));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("the thread of the word indexes ended")));
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Gives a new index its number. */
  number(): number {
    return this.#indexes++;
  }

  ask(index: number, request: Request): Promise<Answered> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (request.op === "search" && this.#waiting.size >= WAITING_MAX) {
      return Promise.reject(unavailable("too many searches wait for the words of memories"));
    }
    const asked: Asked = { id: this.#asked++, index, request };
    return new Promise((resolve, reject) => {
      this.#waiting.set(asked.id, { resolve, reject });
      this.#worker.postMessage(asked);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(answered: Answered): void {
    const waiter = this.#waiting.get(answered.id);
    this.#waiting.delete(answered.id);
    if (answered.error === undefined) waiter?.resolve(answered);
    else waiter?.reject(new Error(answered.error));
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}
