import type { Clock } from "../../../concurrency/clock.js";
import { mapConcurrently } from "../../../concurrency/map-concurrently.js";
import type { Log } from "../../ports/log.js";
import { type Names, scopeId } from "../../ports/names.js";
import { withChanges } from "../../ports/ports.js";

/** Shortest interval of polling for what other processes have written. */
export const POLL_MS = 250;
/** Interval for each event that is waited for, so that many watches ask the database no more often than few. */
const POLL_EACH_MS = 4;
/** Maximum number of events that are polled at a time. */
const POLLING_MAX = 4;

/** Event that a watch waits for. Watches with the same key share its polling. */
export interface Awaited {
  readonly key: string;
  /** The log that has to grow, or the name that has to get one: `note` is called with it if this process does that. */
  readonly topic: string;
  hasHappened(): Promise<boolean>;
}

interface Waiting {
  readonly awaited: Awaited;
  /** Ends each wait, with an error or without. */
  readonly ends: Set<(error?: unknown) => void>;
}

/**
 * Wakes watches when something may have happened: at once if this process has written it, and by polling, within a
 * quarter of a second, if another has.
 */
export class News {
  readonly #waiting = new Map<string, Waiting>();
  #isPolling = false;

  constructor(private readonly clock: Clock) {}

  /** Number of different things that are waited for. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Called when this process has changed something. */
  note(topic: string): void {
    for (const { awaited, ends } of this.#waiting.values()) {
      if (awaited.topic === topic) for (const end of ends) end();
    }
  }

  /** Resolves when it may have happened, the time is over, or a signal is aborted. @throws what `hasHappened` threw */
  wait(
    awaited: Awaited,
    { ms, signals }: { readonly ms: number; readonly signals: readonly AbortSignal[] },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(awaited.key) ?? { awaited, ends: new Set() };
      const end = (error?: unknown) => {
        clearTimeout(timer);
        for (const signal of signals) signal.removeEventListener("abort", wake);
        waiting.ends.delete(end);
        if (waiting.ends.size === 0) this.#waiting.delete(awaited.key);
        if (error === undefined) resolve();
        else reject(error);
      };
      const wake = () => end();
      const timer = setTimeout(wake, ms);
      waiting.ends.add(end);
      this.#waiting.set(awaited.key, waiting);
      for (const signal of signals) signal.addEventListener("abort", wake);
      if (signals.some(({ aborted }) => aborted)) wake();
      else void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    while (this.#waiting.size > 0) {
      await this.clock.sleep(Math.max(POLL_MS, this.#waiting.size * POLL_EACH_MS));
      await mapConcurrently([...this.#waiting.values()], POLLING_MAX, poll);
    }
    this.#isPolling = false;
  }
}

async function poll({ awaited, ends }: Waiting): Promise<void> {
  if (ends.size === 0) return;
  try {
    if (await awaited.hasHappened()) for (const end of ends) end();
  } catch (error) {
    for (const end of ends) end(error);
  }
}

/** Decorates a log, so that what this process appends wakes its watches at once. */
export function announcedLog(log: Log, news: Pick<News, "note">): Log {
  return withChanges(log, {
    append: async (batch) => {
      const inserted = await log.append(batch);
      if (inserted > 0) news.note(batch.logId);
      return inserted;
    },
  });
}

/** Decorates names, so that a namespace that this process creates wakes its watches at once. */
export function announcedNames(names: Names, news: Pick<News, "note">): Names {
  return withChanges(names, {
    create: async (scope, modelVersion) => {
      const logId = await names.create(scope, modelVersion);
      news.note(scopeId(scope));
      return logId;
    },
  });
}
