import { type Transferable, Worker } from "node:worker_threads";
import { unavailable } from "../errors.js";
import type { Handlers, Transferred, WorkerCall, WorkerFailure, WorkerReply } from "./worker-handlers.js";

export interface WorkerOptions {
  /** File that the thread runs; it calls `handleCalls`. */
  readonly script: URL;
  /** Name of the thread, as debuggers and errors show it. */
  readonly name: string;
  readonly workerData?: unknown;
  readonly callsMax?: number;
  /**
   * Time without a call after which the thread ends. The next call starts another one, also after a loss, so
   * handlers may keep nothing that a later call cannot do without. Unless it is set, a loss is final.
   */
  readonly idleMs?: number;
  /** Called when the thread is lost, before its pending calls are rejected. */
  readonly onLost?: (lost: WorkerLostError) => void;
}

export interface CallOptions {
  /** Memory that is handed to the thread in place of being copied. */
  readonly transfer?: readonly Transferable[];
  /**
   * Time that the thread may work on this call, once it is the oldest one, before the thread counts as lost.
   * The thread is then left to itself until it replies, because to end native code may abort the process.
   */
  readonly timeoutMs?: number;
}

/** Error of calls whose worker thread died, was stuck or was closed. */
export class WorkerLostError extends Error {
  override readonly name = "WorkerLostError";
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  readonly timeoutMs: number | undefined;
}

type Result<T> = T extends Transferred<infer V> ? V : T;

/**
 * Calls functions in a worker thread, which the first call starts. Only a pending call keeps the process
 * alive.
 */
export class WorkerClient<H extends Handlers> {
  #worker: Worker | undefined;
  /** Resolves when the last thread has ended, which for a stuck one is some time after it is lost. */
  ended: Promise<unknown> = Promise.resolve();
  /** Pending calls by their ids, the oldest first. */
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #timer: NodeJS.Timeout | undefined;
  #lost: WorkerLostError | undefined;

  constructor(private readonly options: WorkerOptions) {}

  /** Number of calls that have no result yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * Calls a handler of the thread.
   *
   * @throws MemoryError `unavailable` if too many calls are pending, `WorkerLostError` if the thread is lost;
   * any other error is the handler's, with its message and code.
   */
  call<N extends keyof H & string>(
    name: N,
    message: Parameters<H[N]>[0],
    { transfer = [], timeoutMs }: CallOptions = {},
  ): Promise<Result<Awaited<ReturnType<H[N]>>>> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) throw this.#lost;
      if (this.#pending.size >= (this.options.callsMax ?? Number.POSITIVE_INFINITY)) {
        throw unavailable(`${this.#pending.size} calls wait for the ${this.options.name} thread already`);
      }
      this.#worker ??= this.#start();
      const call: WorkerCall = { id: this.#calls++, name, message };
      this.#worker.postMessage(call, transfer);
      this.#pending.set(call.id, { resolve: resolve as Pending["resolve"], reject, timeoutMs });
      if (this.#pending.size === 1) this.#watch();
    });
  }

  /** Ends the thread; its pending calls and all later ones fail. */
  async close(): Promise<void> {
    this.#lost ??= new WorkerLostError(`the ${this.options.name} thread was closed`);
    await this.#worker?.terminate();
    clearTimeout(this.#timer);
  }

  #start(): Worker {
    const { script, name, workerData } = this.options;
    const worker = new Worker(script, { name, workerData });
    worker.on("message", (reply: WorkerReply) => this.#settle(worker, reply));
    worker.on("messageerror", (error) => this.#lose(worker, error));
    worker.on("error", (error) => this.#lose(worker, error));
    worker.on("exit", () => this.#lose(worker, new Error("it ended by itself")));
    this.ended = new Promise((resolve) => worker.once("exit", resolve));
    return worker;
  }

  #settle(worker: Worker, reply: WorkerReply): void {
    if (worker !== this.#worker) {
      // This reply of a stuck thread is late. Nothing native runs in it now, so it can be ended.
      void worker.terminate();
      return;
    }
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    this.#watch();
    if ("error" in reply) pending?.reject(errorOf(reply.error));
    else pending?.resolve(reply.value);
  }

  /** Watches the oldest call, or the idle thread. */
  #watch(): void {
    const [oldest] = this.#pending.values();
    clearTimeout(this.#timer);
    const { idleMs } = this.options;
    if (oldest === undefined) {
      this.#worker?.unref();
      if (idleMs !== undefined) this.#timer = setTimeout(() => this.#endIdle(), idleMs).unref();
      return;
    }
    this.#worker?.ref();
    const { timeoutMs } = oldest;
    if (timeoutMs === undefined) return;
    const overdue = () => new Error(`it did not answer within ${timeoutMs} ms`);
    this.#timer = setTimeout(() => this.#worker && this.#lose(this.#worker, overdue()), timeoutMs);
  }

  #endIdle(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #lose(worker: Worker, cause: unknown): void {
    // The late end of an earlier thread must not affect this one.
    if (worker !== this.#worker) return;
    const { name, idleMs, onLost } = this.options;
    this.#worker = undefined;
    clearTimeout(this.#timer);
    worker.unref();
    const reason = cause instanceof Error ? cause.message : String(cause);
    const lost = this.#lost ?? new WorkerLostError(`the ${name} thread was lost: ${reason}`, { cause });
    if (this.#lost === undefined) {
      if (idleMs === undefined) this.#lost = lost;
      onLost?.(lost);
    }
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(lost);
  }
}

function errorOf({ message, code, stack }: WorkerFailure): Error {
  return Object.assign(new Error(message), code !== undefined && { code }, stack !== undefined && { stack });
}
