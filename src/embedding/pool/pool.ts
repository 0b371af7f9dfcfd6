import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError, unavailable } from "../../errors.js";
import { type Embedding, type EmbedInput, SERVICE } from "../../memory/ports/embedder.js";
import { cuttingCostOf } from "../encode/cost.js";
import type { Question, Reading } from "../encode/encoder.js";
import { Abandoned } from "./abandoned.js";
import { admit, giveUpLate, type Prospect } from "./admission.js";
import { EmbedQueue } from "./embed-queue.js";
import { Pace } from "./pace.js";
import { type Piece, Task } from "./task.js";

/** A text is tried on a second reader, not on a third: it may be what kills them. */
const ATTEMPTS_MAX = 2;
/** Between attempts to start a reader. */
const RESTART_PAUSE_MS = 1000;
/** How often it is looked whether what waits can still be done in time. */
const LOOK_MS = 250;

/**
 * A reader gets its next text while it reads one, so that it need not wait for us between two: when
 * both together are so short, in UTF-16 units, that a query which comes then is not held up for long.
 */
export const AHEAD_UNITS_MAX = 512;

/** Something that holds a model and reads texts one after the other. */
export interface Reader {
  /** Called once when the reader has become useless, before its read is rejected. */
  onLost: (lost: ReaderLost) => void;
  /** What the model needs for a cost of 1, as measured at the start; see `costOf`. */
  readonly msPerCost?: number;
  /** Resolves when its thread is gone; one that is stuck is lost before that. */
  readonly ended: Promise<unknown>;
  /** @throws ReaderLost when the reader went away with the text; anything else speaks of the text. */
  read(question: Question): Promise<Reading>;
  close(): Promise<void>;
}

export class ReaderLost extends Error {
  override readonly name = "ReaderLost";
}

export interface PoolOptions {
  readonly readers: number;
  readonly start: () => Promise<Reader>;
  /** Told when a reader was lost, or could not be started again. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

/** What a reader has to do. */
interface Work {
  /** The piece that it reads, and maybe another one behind it. */
  readonly pieces: Piece[];
  /** When it began to read the first one. */
  begunMs: number;
}

/** Spreads texts over readers, and replaces the readers that are lost. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #readers = new Map<Reader, Work>();
  /** Lost, but not ended. */
  readonly #stuck = new Set<Reader>();
  readonly #waiting = new EmbedQueue();
  readonly #pace = new Pace();
  readonly #abandoned = new Abandoned();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #looking = setInterval(() => giveUpLate(this.#prospect), LOOK_MS).unref();

  private constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Resolves when every reader has started; when one cannot, none is left. */
  static async open(options: PoolOptions): Promise<Pool> {
    const pool = new Pool(options);
    const starting = Array.from({ length: options.readers }, () => pool.#startReader());
    const failed = (await Promise.allSettled(starting)).find(({ status }) => status === "rejected");
    if (failed?.status !== "rejected") return pool;
    await pool.close();
    throw failed.reason;
  }

  get waiting(): Record<EmbedInput["field"], number> {
    return this.#waiting.byField;
  }

  /** What waits, and how fast all readers together are. */
  get #prospect(): Prospect {
    return {
      waiting: this.#waiting,
      msPerCost: this.#pace.msPerCost / Math.max(1, this.#readers.size),
    };
  }

  /**
   * Reads a text, in windows if it is long.
   *
   * @throws MemoryError `unavailable`, `resource_exhausted` or `internal`; the signal's reason when it
   * is aborted, at once: what is being read then is read to its end for nobody.
   */
  async read(input: EmbedInput): Promise<Embedding> {
    const { signal } = input;
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    this.#abandoned.check(input.owner);
    let breakOff = () => {};
    const reading = new Promise<Embedding>((resolve, reject) => {
      const task = new Task(input, { resolve, reject });
      breakOff = () => this.#breakOff(task);
      admit(task, this.#prospect);
      this.#waiting.add(task);
    });
    signal?.addEventListener("abort", breakOff);
    this.#next();
    return reading.finally(() => signal?.removeEventListener("abort", breakOff));
  }

  /** Lets finish what is being read; what still waits is `unavailable`. */
  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#closing.abort(stopping());
    this.#waiting.rejectAll(stopping());
    await Promise.all(this.#underWay);
    await Promise.all([...this.#readers.keys()].map((reader) => reader.close()));
  }

  #next(): void {
    for (let piece = this.#waiting.first; piece !== undefined; piece = this.#waiting.first) {
      const reader = this.#readerFor(piece);
      if (reader === undefined) return;
      this.#waiting.take();
      this.#track(this.#run(piece, reader));
    }
  }

  /** One that has nothing to do, else one that is at a short text. */
  #readerFor({ text }: Piece): Reader | undefined {
    let ahead: Reader | undefined;
    for (const [reader, { pieces }] of this.#readers) {
      const [reading, ...others] = pieces;
      if (reading === undefined) return reader;
      const units = reading.text.length + text.length;
      if (others.length === 0 && units <= AHEAD_UNITS_MAX) ahead ??= reader;
    }
    return ahead;
  }

  async #run(piece: Piece, reader: Reader): Promise<void> {
    const work = this.#readers.get(reader) as Work;
    work.pieces.push(piece);
    piece.attempts++;
    if (work.pieces.length === 1) begin(work);
    try {
      const reading = await reader.read({ text: piece.text, field: piece.task.input.field });
      this.#accept(piece, { reading, ms: reading.ms ?? performance.now() - work.begunMs });
    } catch (error) {
      this.#fail(piece, error);
    }
    work.pieces.splice(work.pieces.indexOf(piece), 1);
    begin(work);
    this.#next();
  }

  #accept(piece: Piece, { reading, ms }: { reading: Reading; ms: number }): void {
    const { task } = piece;
    this.#pace.note({ ms, cost: costRead(piece, reading) });
    task.usedMs += ms;
    if (task.isOver) {
      this.#countAbandoned(task, ms);
      return;
    }
    task.accept(piece, reading);
    if (task.isOver) this.#waiting.remove(task);
    // Its windows tell better than its length what it takes.
    else if ("parts" in reading) giveUpLate(this.#prospect);
  }

  #fail(piece: Piece, error: unknown): void {
    const { task } = piece;
    if (task.isOver) return;
    if (error instanceof ReaderLost && piece.attempts < ATTEMPTS_MAX && !this.#closing.signal.aborted) {
      task.putBack(piece);
      return;
    }
    this.#waiting.remove(task);
    task.reject(
      error instanceof ReaderLost
        ? unavailable("the model was lost while it read the text", error)
        : new MemoryError("internal", "the model failed on a text", { cause: error }),
    );
  }

  #breakOff(task: Task): void {
    if (task.isOver) return;
    this.#waiting.remove(task);
    task.reject(task.input.signal?.reason);
    this.#countAbandoned(task, task.usedMs);
  }

  /** Only what a caller broke off: what the pool gave up is no fault of the account. */
  #countAbandoned({ input: { owner, signal } }: Task, ms: number): void {
    if (signal?.aborted && owner !== SERVICE) this.#abandoned.add(owner, ms);
  }

  async #startReader(): Promise<void> {
    const reader = await this.#options.start();
    reader.onLost = (lost) => this.#replace(reader, lost);
    this.#readers.set(reader, { pieces: [], begunMs: 0 });
    this.#pace.begin(reader.msPerCost ?? 0);
    this.#next();
  }

  #replace(reader: Reader, lost: ReaderLost): void {
    this.#options.onTrouble?.(lost);
    // Those that it had not begun cannot be what killed it.
    for (const piece of this.#readers.get(reader)?.pieces.slice(1) ?? []) piece.attempts--;
    this.#readers.delete(reader);
    this.#stuck.add(reader);
    void reader.ended.then(() => this.#stuck.delete(reader));
    this.#track(this.#restart());
  }

  async #restart(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        // Each has its memory and its core still: there may not be ever more of them.
        if (this.#stuck.size > this.#options.readers) throw new Error("too many readers are stuck");
        return await this.#startReader();
      } catch (error) {
        this.#options.onTrouble?.(error);
        if (this.#readers.size === 0) this.#waiting.rejectAll(unavailable("the model is away", error));
        await sleep(RESTART_PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
      }
    }
  }

  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }
}

/** Tells the first piece's caller that it is being read. */
function begin(work: Work): void {
  work.begunMs = performance.now();
  work.pieces[0]?.task.input.onBegin?.();
}

/** The cost of what a reader did: cutting a text costs less than reading it. */
function costRead({ text, cost }: Piece, reading: Reading): number {
  return "vector" in reading ? cost : cuttingCostOf(text);
}

function stopping(): MemoryError {
  return unavailable("the server is stopping");
}
