import { canceled, RecalldError } from "./errors.js";
import type { Settings } from "./options.js";

/** Breaks off what takes too long, and what the caller has given up. */
export class Breaker {
  readonly #controller = new AbortController();
  readonly #settings: Settings;
  #cancelTimer = () => {};
  #error: RecalldError | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    if (settings.signal?.aborted === true) this.#onAbort();
    else settings.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Signal for `fetch`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Error that broke it off, if anything did. */
  get error(): RecalldError | undefined {
    return this.#error;
  }

  /** Starts the time anew. */
  within(ms: number): void {
    const { clock, requestId } = this.#settings;
    this.#cancelTimer();
    this.#cancelTimer = clock.after(ms, () => {
      this.#break(
        new RecalldError("deadline_exceeded", `there was no answer within ${ms} ms`, { requestId }),
      );
    });
  }

  /** Stops the time: what is waited for may take as long as it likes. */
  rest(): void {
    this.#cancelTimer();
  }

  /** Waits for something that may not know the signal. */
  async until<T>(work: Promise<T>): Promise<T> {
    const broken = new Promise<never>((_, reject) => {
      const fail = () => reject(this.#error);
      if (this.signal.aborted) fail();
      else this.signal.addEventListener("abort", fail, { once: true });
    });
    try {
      return await Promise.race([work, broken]);
    } catch (error) {
      throw this.#error ?? error;
    }
  }

  /** Ends what is under way, and forgets the caller's signal. */
  close(): void {
    this.#cancelTimer();
    this.#settings.signal?.removeEventListener("abort", this.#onAbort);
    this.#controller.abort();
  }

  readonly #onAbort = () => {
    this.#break(canceled(this.#settings));
  };

  #break(error: RecalldError): void {
    this.#error ??= error;
    this.#controller.abort(error);
  }
}
