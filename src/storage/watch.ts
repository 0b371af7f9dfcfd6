import { lookEvery } from "../concurrency/every.js";
import { isNotWritable, unavailable } from "../errors.js";
import type { Storage } from "./storage.js";

const CHECK_MS = 2000;

/** Tracks whether the database answers, so that callers need not find out by waiting for it. */
export class StorageWatch {
  #trouble: unknown;
  /** End of the last check; one that began earlier tells nothing new. */
  #endedMs = 0;
  readonly close = lookEvery(CHECK_MS, () => void this.#check());

  constructor(
    private readonly storage: Pick<Storage, "check">,
    /**
     * Called with the reason when the database stops to answer or to write, and with undefined when it
     * is well again.
     */
    private readonly onChange: (trouble: unknown) => void,
  ) {}

  /**
   * Returns a port that refuses whatever it is asked while the database is known not to answer. What is asked of it throws
   * MemoryError `unavailable` at once.
   */
  watched<T extends object>(port: T): T {
    const get = (target: T, name: string | symbol) => {
      // A database that only cannot write is still read; each write reports its own failure.
      const isAway = this.#trouble !== undefined && !isNotWritable(this.#trouble);
      if (isAway) throw unavailable("the database is away", undefined, CHECK_MS);
      return (Reflect.get(target, name) as (...given: unknown[]) => unknown).bind(target);
    };
    return new Proxy(port, { get });
  }

  async #check(): Promise<void> {
    const begunMs = performance.now();
    const trouble = await this.storage.check().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (begunMs < this.#endedMs) return;
    this.#endedMs = begunMs;
    const before = this.#trouble;
    this.#trouble = trouble;
    const same =
      (trouble === undefined) === (before === undefined) && isNotWritable(trouble) === isNotWritable(before);
    if (!same) this.onChange(trouble);
  }
}
