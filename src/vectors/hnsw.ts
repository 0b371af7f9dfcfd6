import { Worker } from "node:worker_threads";
import type { VectorRow } from "../memory/vectors.js";
import type { Reply, Request } from "./hnsw-worker.js";

/** Rows sent to the thread at a time: a search that comes behind them waits about 25 ms at most. */
const SLICE_ROWS = 256;
/** bf16 vector, links and key, measured at 90,772 × 384; and the thread itself. */
const BYTES_PER_LINKED_ROW = 300;
const BYTES_PER_THREAD = 10_000_000;

/** A graph of vectors in a thread of its own: right for more than can be scanned in a millisecond. */
export class Hnsw {
  size = 0;
  /** Places of vectors that were taken out. */
  dead = 0;
  readonly #worker: Worker;
  readonly #waiting: { resolve(reply: BigUint64Array): void; reject(error: unknown): void }[] = [];
  #failure: Error | undefined;

  constructor(readonly dimensions: number) {
    this.#worker = new Worker(new URL("./hnsw-worker.js", import.meta.url), { workerData: { dimensions } });
    this.#worker.unref();
    this.#worker.on("message", (reply: Reply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("the index thread ended")));
  }

  get bytes(): number {
    return BYTES_PER_THREAD + (this.size + this.dead) * (this.dimensions * 2 + BYTES_PER_LINKED_ROW);
  }

  /** Resolves when the thread has taken them in; a search begun later sees them in any case. */
  async add(rows: readonly VectorRow[]): Promise<void> {
    this.size += rows.length;
    const done: Promise<unknown>[] = [];
    for (let from = 0; from < rows.length; from += SLICE_ROWS) {
      done.push(this.#send(this.#pack(rows.slice(from, from + SLICE_ROWS))));
    }
    await Promise.all(done);
  }

  /** Takes vectors out; their places stay taken until a new graph is built. */
  async remove(sequences: readonly number[]): Promise<void> {
    const removed = await this.#send({ op: "remove", sequences: BigUint64Array.from(sequences, BigInt) });
    this.size -= removed.length;
    this.dead += removed.length;
  }

  /** The numbers of the `limit` nearest, best first, found by way of the graph. */
  async search(vector: Float32Array, limit: number): Promise<number[]> {
    const sequences = await this.#send({ op: "search", vector, limit });
    return Array.from(sequences, Number);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #pack(rows: readonly VectorRow[]): Request {
    const packed = new Float32Array(rows.length * this.dimensions);
    rows.forEach(({ vector }, i) => {
      packed.set(vector, i * this.dimensions);
    });
    return {
      op: "add",
      sequences: BigUint64Array.from(rows, ({ sequence }) => BigInt(sequence)),
      rows: packed,
    };
  }

  #send(request: Request): Promise<BigUint64Array> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(request, request.op === "add" ? [request.rows.buffer as ArrayBuffer] : []);
    });
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.shift();
    if ("error" in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.sequences);
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}
