import type { Clock } from "../../concurrency/clock.js";
import type { Namespaces } from "../log/namespaces.js";
import { LogEndedError } from "../log/replica.js";
import type { Indexes } from "../ports/index.js";
import { forgottenBy, type Log } from "../ports/log.js";

/** Entries read at a time, and at most for one log at a time. */
const READ_MANY = 512;
const READ_MAX = 20_480;

export interface StoredFilesPorts {
  readonly log: Log;
  readonly indexes: Indexes;
  readonly namespaces: Namespaces;
  readonly clock: Clock;
}

/**
 * Takes what other processes have deleted out of the index files that this one keeps, also of namespaces that nobody
 * uses here.
 */
export class StoredFiles {
  /** Numbers up to which the removals of logs that are not open were applied. */
  readonly #applied = new Map<string, number>();

  constructor(private readonly ports: StoredFilesPorts) {}

  /** Applies the removals that are new. A log that is very far behind goes on at the next call. */
  async catchUp(): Promise<void> {
    const { indexes, namespaces } = this.ports;
    const stored = new Set(await indexes.stored());
    for (const logId of this.#applied.keys()) if (!stored.has(logId)) this.#applied.delete(logId);
    for (const logId of stored) {
      const isOpen = await namespaces.ifLogIsOpen(logId, (replica) =>
        replica.current().catch((error) => {
          // Whoever uses the namespace next leaves the log that has ended.
          if (!(error instanceof LogEndedError)) throw error;
        }),
      );
      if (!isOpen) await this.#catchUpWith(logId);
      else this.#applied.delete(logId);
    }
  }

  async #catchUpWith(logId: string): Promise<void> {
    const { log, indexes, clock } = this.ports;
    const first = this.#applied.get(logId) ?? (await this.#markOf(logId));
    if (first === undefined) return;
    for (let from = first + 1; from <= first + READ_MAX; ) {
      const { entries, complete } = await log.read({ logId, from, limit: READ_MANY, what: "head" });
      const targets = entries.flatMap(({ entry }) => forgottenBy(entry) ?? []);
      if (targets.length > 0) await indexes.wipe(logId, targets);
      from += entries.length;
      this.#applied.set(logId, from - 1);
      if (complete) return;
      await clock.yield();
    }
  }

  /** Finds the number up to which all of a log's files have its removals; undefined if none is whole. */
  async #markOf(logId: string): Promise<number | undefined> {
    const marks = await this.ports.indexes.marksOf(logId);
    return marks.length === 0 ? undefined : Math.min(...marks.map(({ sequence }) => sequence));
  }
}
