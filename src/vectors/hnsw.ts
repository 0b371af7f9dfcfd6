import { Worker } from "node:worker_threads";
import { unavailable } from "../errors.js";
import {
  type Hit,
  type Mark,
  type Restored,
  SEARCH_DEPTH_MAX,
  type VectorIndex,
} from "../memory/ports/vectors.js";
import type { Answer, Reply, Request } from "./hnsw-worker.js";
import type { Single } from "./single.js";
import { keyOf } from "./snapshot/keys.js";
import type { SnapshotOf } from "./snapshot/snapshot.js";

/** Number of rows sent to the thread at a time: a search after them waits about 25 ms at most. */
const SLICE_ROWS = 256;
/** Maximum number of requests that wait for the thread before searches are refused. */
export const WAITING_MAX = 1024;
/** Memory for each row's links and key, measured at 90,772 × 384 with bf16 vectors, and for the thread. */
const BYTES_PER_LINKED_ROW = 300;
const BYTES_PER_THREAD = 10_000_000;

/** A graph of vectors in its own thread, for more vectors than a scan handles in a millisecond. */
export class Hnsw {
  /** Number of memories in it. */
  size = 0;
  /** Number of vectors in it. */
  rows = 0;
  /** Number of places of removed vectors. */
  dead = 0;
  readonly #worker: Worker;
  readonly #waiting: { resolve(answer: Answer): void; reject(error: unknown): void }[] = [];
  #failure: Error | undefined;
  #closing: Promise<unknown> | undefined;

  constructor(readonly of: SnapshotOf) {
    this.#worker = new Worker(new URL("./hnsw-worker.js", import.meta.url), { workerData: of });
    this.#worker.unref();
    this.#worker.on("message", (reply: Reply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("the index thread ended")));
  }

  get bytes(): number {
    return BYTES_PER_THREAD + (this.rows + this.dead) * (this.of.dimensions * 2 + BYTES_PER_LINKED_ROW);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Adds vectors; resolves when the thread has added them. A search that begins later sees them in any
   * case.
   */
  async add(rows: readonly Single[]): Promise<void> {
    this.rows += rows.length;
    this.size += rows.filter(({ window }) => window === 0).length;
    const done: Promise<unknown>[] = [];
    for (let from = 0; from < rows.length; from += SLICE_ROWS) {
      done.push(this.#send(this.#pack(rows.slice(from, from + SLICE_ROWS))));
    }
    await Promise.all(done);
  }

  /** Removes memories; the places of their vectors stay taken until a new graph is built. */
  async remove(sequences: readonly number[]): Promise<void> {
    const { removed } = await this.#send({ op: "remove", sequences });
    this.size -= removed?.memories ?? 0;
    this.rows -= removed?.vectors ?? 0;
    this.dead += removed?.vectors ?? 0;
  }

  /** Searches the graph like `VectorIndex.search`. */
  async search({
    vector,
    limit,
    depthMax = SEARCH_DEPTH_MAX,
  }: Parameters<VectorIndex["search"]>[0]): Promise<Hit[]> {
    if (this.#waiting.length >= WAITING_MAX) throw unavailable("too many searches wait for this namespace");
    // The vector is copied, because sending a view would send its whole buffer.
    const { found } = await this.#send({ op: "search", vector: vector.slice(), limit, depthMax });
    return found ?? [];
  }

  /** Fills the empty graph from its snapshot, if that can be trusted. */
  async restore(): Promise<Restored | undefined> {
    const { restored } = await this.#send({ op: "restore" });
    this.size = restored?.size ?? 0;
    this.rows = restored?.rows ?? 0;
    this.dead = restored?.dead ?? 0;
    return restored?.snapshot;
  }

  /**
   * Writes a snapshot and returns the name of its files. Searches of this graph wait meanwhile: a few
   * seconds for a gigabyte.
   */
  async snapshot(mark: Mark): Promise<string> {
    const { written } = await this.#send({ op: "snapshot", mark });
    if (written === undefined) throw new Error("the index thread wrote no snapshot");
    return written;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#worker.terminate();
    await this.#closing;
  }

  #pack(rows: readonly Single[]): Request {
    const packed = new Float32Array(rows.length * this.of.dimensions);
    rows.forEach(({ vector }, i) => {
      packed.set(vector, i * this.of.dimensions);
    });
    return {
      op: "add",
      keys: BigUint64Array.from(rows, ({ sequence, window }) => keyOf(sequence, window)),
      rows: packed,
    };
  }

  #send(request: Request): Promise<Answer> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(request, request.op === "add" ? [request.rows.buffer as ArrayBuffer] : []);
    });
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.shift();
    if ("error" in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply);
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}
