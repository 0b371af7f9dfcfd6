import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError, unavailable } from "../errors.js";
import type { EmbedInput } from "../memory/embedder.js";
import type { Question, Reading } from "./encoder.js";
import { type Job, Waiting } from "./waiting.js";

/** A text is tried on a second reader, not on a third: it may be what kills them. */
const ATTEMPTS_MAX = 2;
/** Between attempts to start a reader. */
const RESTART_PAUSE_MS = 1000;

/**
 * A reader gets its next text while it reads one, so that it need not wait for us between two: when
 * both together are so short, in UTF-16 units, that a query which comes then is not held up for long.
 */
export const AHEAD_UNITS_MAX = 512;

/** Something that holds a model and reads texts one after the other. */
export interface Reader {
  /** Called once when the reader has become useless, before its read is rejected. */
  onLost: (lost: ReaderLost) => void;
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

/** Spreads texts over readers, and replaces the readers that are lost. */
export class Pool {
  readonly #options: PoolOptions;
  /** With what each has to read, in its order. */
  readonly #readers = new Map<Reader, Job[]>();
  /** Lost, but not ended. */
  readonly #stuck = new Set<Reader>();
  readonly #waiting = new Waiting();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

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

  /**
   * @throws MemoryError `unavailable` or `internal`; the signal's reason when it is aborted, at once:
   * what is being read then is read to its end for nobody.
   */
  async read(input: EmbedInput): Promise<Reading> {
    const { signal } = input;
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    let drop = () => {};
    const reading = new Promise<Reading>((resolve, reject) => {
      const job: Job = { input, attempts: 0, resolve, reject };
      drop = () => this.#drop(job);
      this.#waiting.add(job);
    });
    signal?.addEventListener("abort", drop);
    this.#next();
    return reading.finally(() => signal?.removeEventListener("abort", drop));
  }

  /** Lets finish what is being read; what still waits is `unavailable`. */
  async close(): Promise<void> {
    this.#closing.abort(stopping());
    this.#waiting.rejectAll(stopping());
    await Promise.all(this.#underWay);
    await Promise.all([...this.#readers.keys()].map((reader) => reader.close()));
  }

  #next(): void {
    for (let job = this.#waiting.first; job !== undefined; job = this.#waiting.first) {
      const reader = this.#readerFor(job);
      if (reader === undefined) return;
      this.#waiting.take();
      this.#track(this.#run(job, reader));
    }
  }

  /** One that has nothing to do, else one that is at a short text. */
  #readerFor({ input }: Job): Reader | undefined {
    let ahead: Reader | undefined;
    for (const [reader, [reading, ...others]] of this.#readers) {
      if (reading === undefined) return reader;
      const units = reading.input.text.length + input.text.length;
      if (others.length === 0 && units <= AHEAD_UNITS_MAX) ahead ??= reader;
    }
    return ahead;
  }

  async #run(job: Job, reader: Reader): Promise<void> {
    const jobs = this.#readers.get(reader) as Job[];
    jobs.push(job);
    job.attempts++;
    if (jobs.length === 1) job.input.onBegin?.();
    try {
      const { text, field } = job.input;
      job.resolve(await reader.read({ text, field }));
    } catch (error) {
      this.#fail(job, error);
    }
    jobs.splice(jobs.indexOf(job), 1);
    jobs[0]?.input.onBegin?.();
    this.#next();
  }

  #fail(job: Job, error: unknown): void {
    if (!(error instanceof ReaderLost)) {
      job.reject(new MemoryError("internal", "the model failed on a text", { cause: error }));
    } else if (job.attempts < ATTEMPTS_MAX && !this.#closing.signal.aborted && !job.input.signal?.aborted) {
      this.#waiting.putBack(job);
    } else {
      job.reject(unavailable("the model was lost while it read the text", error));
    }
  }

  #drop(job: Job): void {
    this.#waiting.remove(job);
    job.reject(job.input.signal?.reason);
  }

  async #startReader(): Promise<void> {
    const reader = await this.#options.start();
    reader.onLost = (lost) => this.#replace(reader, lost);
    this.#readers.set(reader, []);
    this.#next();
  }

  #replace(reader: Reader, lost: ReaderLost): void {
    this.#options.onTrouble?.(lost);
    // Those that it had not begun cannot be what killed it.
    for (const job of this.#readers.get(reader)?.slice(1) ?? []) job.attempts--;
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

function stopping(): MemoryError {
  return unavailable("the server is stopping");
}
