import { setTimeout as sleep } from "node:timers/promises";
import { Buckets } from "../../concurrency/bucket.js";
import { callEvery } from "../../concurrency/every.js";
import { WorkerLostError } from "../../concurrency/worker-client.js";
import { MemoryError, unavailable } from "../../errors.js";
import {
  type Embedding,
  type EmbeddingThread,
  type EmbedInput,
  SERVICE,
} from "../../memory/ports/embedder.js";
import { cuttingCostOf } from "../encode/cost.js";
import type { Encoded, Question } from "../encode/encoder.js";
import { EmbedQueue } from "./embed-queue.js";
import type { MainThread } from "./main-thread.js";
import { type Chunk, Task } from "./task.js";

/** Model time that the moving average covers: short enough to follow the machine's load. */
const AVERAGED_MS = 5_000;
/** Weight of the first measurement, as model time. */
const FIRST_MS = 500;

/**
 * Share of a call's remaining time within which a text must be expected to be done to be accepted. The
 * rest is left for later arrivals, because other accounts take turns too.
 */
const ACCEPTED_SHARE = 0.7;
/** Share of a call's time after which a text is given up; the rest is for storing its memory. */
const USABLE_SHARE = 0.9;
/**
 * A waiting text is given up only if this share of the estimate is too long, because a machine may be
 * busy for a moment.
 */
const CERTAIN_SHARE = 0.7;
/** Limits of the pause that a refused caller is told. */
const RETRY_MS = { min: 1_000, max: 30_000 };

/** Number of workers on which a text is tried. There is no third, because the text may be what kills them. */
const ATTEMPTS_MAX = 2;
const RESTART_PAUSE_MS = 1000;
/** Interval between checks that waiting texts can still be done in time. */
const OVERDUE_CHECK_MS = 250;

/**
 * A worker gets its next text while it reads one, so that it never waits for the main thread. Both
 * together are at most this long, in UTF-16 units, so that a query is not held up for long.
 */
export const AHEAD_UNITS_MAX = 512;

/** Model time that an account may use for calls that it then breaks off. */
export const ABANDONED_MS_MAX = 10_000;
/** Milliseconds of it that are forgiven each second. */
const FORGIVEN_MS = 100;
/** Upper limit of the used time, so that no account is locked out for more than 100 seconds. */
const ABANDONED_MS_CAP = 2 * ABANDONED_MS_MAX;

/** A loaded model that reads texts one after the other. */
export interface EmbedWorker {
  /** Called once when the worker has failed, before its call is rejected. */
  onLost: (lost: WorkerLostError) => void;
  /** Milliseconds for a cost of 1, measured at the start; see `costOf`. */
  readonly msPerCost?: number;
  /** Resolves when its thread has ended, which for a stuck one is after `onLost`. */
  readonly ended: Promise<unknown>;
  /**
   * Reads a text, of which `input` may be only a part. @throws WorkerLostError when the worker failed; any other error
   * is about the text, and a MemoryError the caller's to see.
   */
  encode(question: Question, input: EmbedInput): Promise<Encoded>;
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly workers: number;
  readonly start: () => Promise<EmbedWorker>;
  /** Loads the model on the main thread, after the workers have started, if it may read there at all. */
  readonly startMainThread?: () => Promise<MainThread | undefined>;
  /** Called when a worker is lost or cannot be started again. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

/** The work of one worker, or of the main thread. */
interface Work {
  readonly thread: EmbeddingThread;
  /** The chunk that it reads, and possibly the next one. */
  readonly chunks: Chunk[];
  /** Time at which it began to read the first one. */
  begunMs: number;
}

/** Spreads texts over workers, and replaces the workers that are lost. */
export class Pool {
  readonly #workers = new Map<EmbedWorker, Work>();
  /** Workers that are lost but have not ended. */
  readonly #stuck = new Set<EmbedWorker>();
  readonly #waiting = new EmbedQueue();
  readonly #throughput = new Throughput();
  readonly #abandoned = new Abandoned();
  readonly #underWay = new Set<Promise<void>>();
  #mainThread: MainThread | undefined;
  readonly #closing = new AbortController();
  readonly #stopChecking = callEvery(OVERDUE_CHECK_MS, () => this.#rejectOverdue());

  private constructor(private readonly options: PoolOptions) {}

  /** Starts every worker. If one fails, all are closed. */
  static async open(options: PoolOptions): Promise<Pool> {
    const pool = new Pool(options);
    try {
      const starting = Array.from({ length: options.workers }, () => pool.#startWorker());
      const failed = (await Promise.allSettled(starting)).find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
      pool.#mainThread = await options.startMainThread?.();
      return pool;
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  get waiting(): Record<EmbedInput["field"], number> {
    return this.#waiting.byField;
  }

  /** Time that all workers together need for a cost of 1. */
  get #msPerCost(): number {
    return this.#throughput.msPerCost / Math.max(1, this.#workers.size);
  }

  /**
   * Reads a text, in windows if it is long.
   *
   * @throws MemoryError `unavailable`, `resource_exhausted` or `internal`; the signal's reason as soon
   * as it is aborted, while a worker finishes its chunk for no caller.
   */
  async embed(input: EmbedInput): Promise<Embedding> {
    const { signal } = input;
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    this.#abandoned.check(input.owner);
    const task = new Task(input);
    this.#checkLoad(task);
    this.#waiting.add(task);
    const breakOff = () => this.#breakOff(task);
    signal?.addEventListener("abort", breakOff);
    this.#begin(task);
    return task.embedding.finally(() => signal?.removeEventListener("abort", breakOff));
  }

  /** Finishes what is being read; texts that still wait are `unavailable`. */
  async close(): Promise<void> {
    this.#stopChecking();
    this.#closing.abort(stopping());
    this.#rejectWaiting(stopping());
    await Promise.all(this.#underWay);
    await Promise.all([...this.#workers.keys()].map((worker) => worker.close()));
    const mainThread = this.#mainThread;
    // The pool may be closed twice, but a model only once.
    this.#mainThread = undefined;
    await mainThread?.close();
  }

  /**
   * Has a text that is alone read on the main thread, and gives all others to the workers. It is alone if
   * nothing else has arrived by the end of this iteration of the event loop.
   */
  #begin(task: Task): void {
    if (this.#chunkForMainThread(task) === undefined) {
      this.#assignChunks();
      return;
    }
    setImmediate(() => {
      const chunk = this.#chunkForMainThread(task);
      if (chunk !== undefined) this.#embedOnMainThread(chunk);
      this.#assignChunks();
    });
  }

  /**
   * Refuses a text that would not be done before its call's deadline. If nothing else waits it is accepted
   * anyway: otherwise an estimate that is too high would never be corrected.
   *
   * @throws MemoryError `unavailable` (MODEL_BUSY).
   */
  #checkLoad(task: Task): void {
    const { deadlineMs, owner } = task.input;
    if (deadlineMs === undefined || owner === SERVICE || this.#waiting.size === 0) return;
    const untilMs = this.#waiting.costUntil(task) * this.#msPerCost;
    const allowedMs = (deadlineMs - task.arrivedMs) * ACCEPTED_SHARE;
    if (untilMs > allowedMs) throw busy({ untilMs, allowedMs });
  }

  /**
   * Gives up accepted texts that can no longer be done in time. The last ones of each account go first, and the time
   * that they free helps the others.
   */
  #rejectOverdue(): void {
    const nowMs = performance.now();
    const msPerCost = this.#msPerCost;
    for (const task of this.#waiting.newestFirst) {
      const { deadlineMs = Number.POSITIVE_INFINITY } = task.input;
      const allowedMs = task.arrivedMs + (deadlineMs - task.arrivedMs) * USABLE_SHARE - nowMs;
      const untilMs = this.#waiting.costUntil(task) * msPerCost;
      // A worker may as well finish what it has.
      if (task.next === undefined || untilMs * CERTAIN_SHARE <= allowedMs) continue;
      this.#reject(task, busy({ untilMs, allowedMs }));
    }
  }

  /** Rejects all texts of which a part waits. */
  #rejectWaiting(error: unknown): void {
    for (const task of this.#waiting.newestFirst) if (task.next !== undefined) this.#reject(task, error);
  }

  #reject(task: Task, error: unknown): void {
    this.#waiting.remove(task);
    task.reject(error);
  }

  /** Next chunk of a text that is alone, if the main thread may read it. */
  #chunkForMainThread(task: Task): Chunk | undefined {
    const chunk = this.#waiting.nextChunk;
    // A text that was broken off meanwhile is not in the queue any more, but another may be.
    if (this.#waiting.size !== 1 || chunk?.task !== task) return undefined;
    return this.#mainThread?.suits(chunk, this.#throughput.msPerCost) ? chunk : undefined;
  }

  #embedOnMainThread(chunk: Chunk): void {
    const encode = this.#mainThread?.prepare(chunk, this.#throughput.msPerCost);
    if (encode === undefined) return;
    this.#waiting.take(chunk.task);
    this.#track(this.#run(chunk, { work: noWork("main"), encode }));
  }

  /** Gives waiting chunks to workers, as far as these may have more. */
  #assignChunks(): void {
    for (let chunk = this.#waiting.nextChunk; chunk !== undefined; chunk = this.#waiting.nextChunk) {
      const worker = this.#workerFor(chunk);
      if (worker === undefined) return;
      const { text, task } = chunk;
      this.#waiting.take(task);
      const encode = () => worker.encode({ text, field: task.input.field }, task.input);
      this.#track(this.#run(chunk, { work: this.#workers.get(worker) as Work, encode }));
    }
  }

  /** Chooses an idle worker, else one that reads a short text. */
  #workerFor({ text }: Chunk): EmbedWorker | undefined {
    let ahead: EmbedWorker | undefined;
    for (const [worker, { chunks }] of this.#workers) {
      const [current, ...others] = chunks;
      if (current === undefined) return worker;
      const units = current.text.length + text.length;
      if (others.length === 0 && units <= AHEAD_UNITS_MAX) ahead ??= worker;
    }
    return ahead;
  }

  async #run(chunk: Chunk, { work, encode }: { work: Work; encode: () => Promise<Encoded> }): Promise<void> {
    work.chunks.push(chunk);
    chunk.attempts++;
    if (work.chunks.length === 1) beginFirst(work);
    try {
      const encoded = await encode();
      this.#accept(chunk, { encoded, ms: encoded.ms ?? performance.now() - work.begunMs });
    } catch (error) {
      this.#fail(chunk, error);
    }
    work.chunks.splice(work.chunks.indexOf(chunk), 1);
    beginFirst(work);
    this.#assignChunks();
  }

  #accept(chunk: Chunk, { encoded, ms }: { encoded: Encoded; ms: number }): void {
    const { task } = chunk;
    // Cutting a text costs less than reading it.
    this.#throughput.note({ ms, cost: "vector" in encoded ? chunk.cost : cuttingCostOf(chunk.text) });
    task.usedMs += ms;
    if (task.isOver) {
      this.#countAbandoned(task, ms);
      return;
    }
    task.accept(chunk, encoded);
    if (task.isOver) this.#waiting.remove(task);
    // Its windows give a better estimate of what is left than its length did.
    else if ("parts" in encoded) this.#rejectOverdue();
  }

  #fail(chunk: Chunk, error: unknown): void {
    const { task } = chunk;
    if (task.isOver) return;
    if (error instanceof WorkerLostError && chunk.attempts < ATTEMPTS_MAX && !this.#closing.signal.aborted) {
      task.putBack(chunk);
      return;
    }
    this.#reject(task, callerErrorOf(error));
  }

  #breakOff(task: Task): void {
    if (task.isOver) return;
    this.#reject(task, task.input.signal?.reason);
    this.#countAbandoned(task, task.usedMs);
  }

  /** Counts only what a caller broke off: what the pool gave up is not the account's fault. */
  #countAbandoned({ input: { owner, signal } }: Task, ms: number): void {
    if (signal?.aborted && owner !== SERVICE) this.#abandoned.add(owner, ms);
  }

  async #startWorker(): Promise<void> {
    const worker = await this.options.start();
    worker.onLost = (lost) => this.#replace(worker, lost);
    this.#workers.set(worker, noWork("worker"));
    this.#throughput.begin(worker.msPerCost);
    this.#assignChunks();
  }

  #replace(worker: EmbedWorker, lost: WorkerLostError): void {
    this.options.onTrouble?.(lost);
    // Chunks that it had not begun cannot have killed it.
    for (const chunk of this.#workers.get(worker)?.chunks.slice(1) ?? []) chunk.attempts--;
    this.#workers.delete(worker);
    this.#stuck.add(worker);
    void worker.ended.then(() => this.#stuck.delete(worker));
    this.#track(this.#restart());
  }

  async #restart(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        // A stuck worker still holds memory and a core, so their number is limited.
        if (this.#stuck.size > this.options.workers) throw new Error("too many workers are stuck");
        return await this.#startWorker();
      } catch (error) {
        this.options.onTrouble?.(error);
        if (this.#workers.size === 0) this.#rejectWaiting(unavailable("the model is away", error));
        // It rejects only when the pool closes, which ends the pause.
        await sleep(RESTART_PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
      }
    }
  }

  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }
}

function noWork(thread: EmbeddingThread): Work {
  return { thread, chunks: [], begunMs: 0 };
}

/** Notes that the model reads the first of a thread's chunks from now on, and calls that text's `onBegin`. */
function beginFirst(work: Work): void {
  work.begunMs = performance.now();
  work.chunks[0]?.task.input.onBegin?.(work.thread);
}

/** The error that the text's caller sees. */
function callerErrorOf(error: unknown): MemoryError {
  if (error instanceof MemoryError) return error;
  if (error instanceof WorkerLostError)
    return unavailable("the model was lost while it read the text", error);
  return new MemoryError("internal", "the model failed on a text", { cause: error });
}

function stopping(): MemoryError {
  return unavailable("the server is stopping");
}

function busy({ untilMs, allowedMs }: { untilMs: number; allowedMs: number }): MemoryError {
  const retryAfterMs = Math.min(RETRY_MS.max, Math.max(RETRY_MS.min, Math.ceil(untilMs - allowedMs)));
  const seconds = Math.ceil(untilMs / 1000);
  return new MemoryError(
    "unavailable",
    `the model has too much to read before this: it would take about ${seconds} s, and the call has less`,
    { reason: "MODEL_BUSY", retryAfterMs },
  );
}

/** Moving average of the time that a worker needs for one unit of `costOf`. */
class Throughput {
  #ms = 0;
  #cost = 0;

  /** Milliseconds for a cost of 1; 0 before the first measurement. */
  get msPerCost(): number {
    return this.#cost === 0 ? 0 : this.#ms / this.#cost;
  }

  /** Takes the first measurement; later ones, from workers that start again, change nothing. */
  begin(msPerCost = 0): void {
    if (this.#cost === 0 && msPerCost > 0) this.note({ ms: FIRST_MS, cost: FIRST_MS / msPerCost });
  }

  note({ ms, cost }: { ms: number; cost: number }): void {
    const decay = Math.exp(-ms / AVERAGED_MS);
    this.#ms = this.#ms * decay + ms;
    this.#cost = this.#cost * decay + cost;
  }
}

/**
 * Counts the model time of calls that their callers break off. Such calls are not charged, so without a
 * limit one account could keep the model busy at no cost.
 */
class Abandoned {
  /** Time that each account may still use. */
  readonly #buckets = new Buckets({ burst: ABANDONED_MS_MAX, perSecond: FORGIVEN_MS });

  add(owner: string, ms: number): void {
    const usedMs = (this.#buckets.fullInMs(owner) * FORGIVEN_MS) / 1000;
    this.#buckets.take(owner, Math.min(ms, ABANDONED_MS_CAP - usedMs));
  }

  /**
   * Refuses an account that broke off too much work.
   *
   * @throws MemoryError `resource_exhausted` (ABANDONED_WORK) while the account has used too much.
   */
  check(owner: string): void {
    const waitMs = this.#buckets.waitMs(owner);
    if (waitMs <= 0) return;
    throw new MemoryError(
      "resource_exhausted",
      `this account broke off calls on which the model had spent more than ${ABANDONED_MS_MAX / 1000} seconds`,
      { reason: "ABANDONED_WORK", retryAfterMs: Math.max(1000, Math.ceil(waitMs)) },
    );
  }
}
