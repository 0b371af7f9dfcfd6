import { unavailable } from "../../errors.js";
import type { Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";
import type { Open } from "./open-namespaces.js";
import type { Replica } from "./replica.js";

/** Interval of recording that a namespace is in use. */
const TOUCH_MS = 600_000;

export interface MaintenanceOptions extends Pick<DomainPorts, "indexes" | "names" | "recent" | "clock"> {
  /** Called with failures; the work is tried again when it is next due. */
  onTrouble?(error: unknown): void;
}

/** Work for open namespaces beside the calls: no call waits for it, but the end of the program does. */
export class Maintenance {
  readonly #running = new Set<Promise<void>>();
  /** Indexes that are being closed, by log. */
  readonly #closing = new Map<string, Promise<unknown>>();

  constructor(private readonly options: MaintenanceOptions) {}

  /** Records a use. */
  tend(open: Open): void {
    const { names, recent, clock } = this.options;
    if (open.replica.broken || open.replica.hasEnded || clock.nowMs() - open.touchedMs < TOUCH_MS) return;
    open.touchedMs = clock.nowMs();
    this.#run(async () => {
      await recent.touch(open.scope, clock.wallMs());
      // Whoever deletes it forgets what was written before, and this what was written after that.
      if ((await names.find(open.scope)) === undefined) await recent.forget(open.scope);
    });
  }

  close(replica: Replica): void {
    const { logId } = replica;
    const closed = this.#run(async () => {
      await replica.close();
      if (replica.hasEnded) await this.options.indexes.discard(logId);
    });
    this.delayOpening(logId, closed);
  }

  /**
   * Erases the files of a log once a replica of it is closed; until then the log is not opened again.
   *
   * @throws MemoryError `unavailable`
   */
  async erase(logId: string, replica: Replica | undefined): Promise<void> {
    const closed = Promise.all([this.#closing.get(logId), replica?.closed]);
    const erasing = closed.then(() => this.options.indexes.discard(logId));
    this.delayOpening(
      logId,
      this.#run(() => erasing),
    );
    await erasing.catch((error) => {
      throw unavailable("the index files of this namespace could not be erased", error);
    });
  }

  /** Resolves when an index of this log is closed, which may write its files until then; undefined if none is. */
  closing(logId: string): Promise<unknown> | undefined {
    return this.#closing.get(logId);
  }

  discard(logId: string): void {
    this.#run(async () => {
      await this.closing(logId);
      await this.options.indexes.discard(logId);
    });
  }

  forget(scope: Scope): void {
    this.#run(() => this.options.recent.forget(scope));
  }

  /** Waits until all work is done. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Lets those who want to open a log wait for work that ends well. */
  delayOpening(logId: string, work: Promise<void>): void {
    const all = Promise.all([this.#closing.get(logId), work]).finally(() => {
      if (this.#closing.get(logId) === all) this.#closing.delete(logId);
    });
    this.#closing.set(logId, all);
  }

  #run(work: () => Promise<void>): Promise<void> {
    const running = work()
      .catch((error) => this.options.onTrouble?.(error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }
}
