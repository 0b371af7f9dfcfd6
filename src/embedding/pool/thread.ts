import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { ModelOnDisk, Question, Reading } from "../encode/encoder.js";
import { type Reader, ReaderLost } from "./pool.js";
import type { LoadedModel, Reply } from "./worker.js";

/** Time for loading a model of some hundred MB from a cold disk. */
const START_TIMEOUT_MS = 120_000;
/** Time after which a read counts as stuck, far above that of the longest text on a busy machine. */
const READ_TIMEOUT_MS = 30_000;

export interface ThreadOptions extends ModelOnDisk {
  readonly readTimeoutMs?: number;
}

interface Pending {
  resolve(reply: Reply): void;
  reject(error: unknown): void;
  readonly timeoutMs: number;
}

/**
 * A worker thread with a model in it. It is ended only between two calls: onnxruntime's binding throws
 * where nothing catches and aborts the whole process if the thread ends inside a run (8 of 8 times with
 * onnxruntime-node 1.30) or, less often, while it loads.
 */
export class Thread implements Reader {
  onLost: (lost: ReaderLost) => void = () => {};
  msPerCost = 0;
  readonly ended: Promise<unknown>;
  readonly #worker: Worker;
  /** Pending requests in the order of their replies. */
  readonly #pending: Pending[] = [];
  /** Timer of the first pending request. */
  #timer: NodeJS.Timeout | undefined;
  #lost: ReaderLost | undefined;

  private constructor(
    onDisk: ModelOnDisk,
    private readonly readTimeoutMs: number,
  ) {
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), {
      name: "embedding",
      workerData: onDisk,
    });
    this.ended = once(this.#worker, "exit").catch(() => {});
    this.#worker.on("message", (reply: Reply) => this.#receive(reply));
    this.#worker.on("messageerror", (error) => this.#lose(error));
    this.#worker.on("error", (error) => this.#lose(error));
    this.#worker.on("exit", () => this.#lose(new Error("it ended by itself")));
  }

  /**
   * Starts a thread and waits until its model is loaded.
   *
   * @throws ReaderLost with the reason as its cause.
   */
  static async start({ readTimeoutMs = READ_TIMEOUT_MS, ...onDisk }: ThreadOptions) {
    const thread = new Thread(onDisk, readTimeoutMs);
    const { loaded } = (await thread.#reply(START_TIMEOUT_MS)) as { loaded: LoadedModel };
    thread.msPerCost = loaded.msPerCost;
    return { thread, loaded };
  }

  async read(question: Question): Promise<Reading> {
    const replied = this.#reply(this.readTimeoutMs);
    this.#worker.postMessage(question);
    const reply = await replied;
    if ("reading" in reply) return reply.reading;
    throw "error" in reply ? reply.error : new Error("the thread started again");
  }

  /** Ends the thread, which must not be reading. */
  async close(): Promise<void> {
    this.onLost = () => {};
    await this.#worker.terminate();
  }

  #reply(timeoutMs: number): Promise<Reply> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject, timeoutMs });
      if (this.#pending.length === 1) this.#watchFirst();
    });
  }

  #watchFirst(): void {
    clearTimeout(this.#timer);
    const [first] = this.#pending;
    if (first === undefined) return;
    const overdue = () => this.#lose(new Error(`it did not answer within ${first.timeoutMs} ms`));
    this.#timer = setTimeout(overdue, first.timeoutMs);
  }

  #receive(reply: Reply): void {
    const pending = this.#pending.shift();
    this.#watchFirst();
    // This answer is late: the thread was given up, and can be ended now.
    if (pending === undefined) void this.#worker.terminate();
    else pending.resolve(reply);
  }

  #lose(cause: unknown): void {
    if (this.#lost !== undefined) return;
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#lost = new ReaderLost(`an embedding thread was lost: ${reason}`, { cause });
    // A stuck thread does not keep the process alive.
    this.#worker.unref();
    this.onLost(this.#lost);
    clearTimeout(this.#timer);
    for (const { reject } of this.#pending.splice(0)) reject(this.#lost);
  }
}
