import { unavailable } from "../errors.js";
import type { Storage } from "./storage.js";

/** How often the database is asked whether it is there. */
const CHECK_MS = 2000;

/** Knows whether the database answers, so that callers need not find out by waiting for it. */
export class StorageWatch {
  #away = false;
  /** Of the last check that has ended: one that began earlier says nothing new. */
  #endedMs = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly storage: Pick<Storage, "check">,
    private readonly onChange: (away: boolean) => void,
  ) {
    this.#timer = setInterval(() => void this.#check(), CHECK_MS).unref();
  }

  /** @throws MemoryError `unavailable` at once while the database is known to be away. */
  expectThere(): void {
    if (this.#away) throw unavailable("the database is away", undefined, CHECK_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const begunMs = performance.now();
    const away = await this.storage.check().then(
      () => false,
      () => true,
    );
    if (begunMs < this.#endedMs) return;
    this.#endedMs = begunMs;
    if (away === this.#away) return;
    this.#away = away;
    this.onChange(away);
  }
}
