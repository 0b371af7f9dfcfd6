import { isNotWritable, unavailable } from "../errors.js";
import type { Storage } from "./storage.js";

/** How often the database is asked whether it is there. */
const CHECK_MS = 2000;

/** Knows whether the database answers, so that callers need not find out by waiting for it. */
export class StorageWatch {
  /** What the last check failed with. */
  #trouble: unknown;
  /** Of the last check that has ended: one that began earlier says nothing new. */
  #endedMs = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly storage: Pick<Storage, "check">,
    /** Told when the database stops to answer or to write, with the reason; undefined when it is well again. */
    private readonly onChange: (trouble: unknown) => void,
  ) {
    this.#timer = setInterval(() => void this.#check(), CHECK_MS).unref();
  }

  /** @throws MemoryError `unavailable` at once while the database is known not to answer. */
  expectThere(): void {
    // One that only cannot write is read as before; what writes is told by the write.
    const isAway = this.#trouble !== undefined && !isNotWritable(this.#trouble);
    if (isAway) throw unavailable("the database is away", undefined, CHECK_MS);
  }

  close(): void {
    clearInterval(this.#timer);
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
