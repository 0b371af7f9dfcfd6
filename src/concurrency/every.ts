import { coalesce } from "./coalesce.js";

/** Work that runs now and then, so that no call waits for it. */
export interface Background {
  /** Runs the work now. All that was pending before the call is done when this resolves. */
  now(): Promise<void>;
  /** Runs the work one last time. */
  close(): Promise<void>;
}

export type BackgroundOptions = Omit<EveryOptions, "immediately">;

interface EveryOptions {
  /** Time between two beginnings, in milliseconds. */
  readonly everyMs: number;
  /** Begins the first run now, and not only after `everyMs`. */
  readonly immediately?: boolean;
  /** Called with the error of a run that failed; the next run begins at its time all the same. */
  onTrouble(error: unknown): void;
}

/**
 * Runs work at intervals, never twice at a time: a time that comes while a run is under way is passed over.
 * Returns a function that ends it and resolves when the last run is over. The timer keeps no process alive.
 */
export function every(
  work: () => Promise<void>,
  { everyMs, immediately = false, onTrouble }: EveryOptions,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const run = () => {
    running ??= work()
      .catch(onTrouble)
      .finally(() => {
        running = undefined;
      });
  };
  if (immediately) run();
  const timer = setInterval(run, everyMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Calls a function at intervals, and returns one that ends it. The timer keeps no process alive. */
export function callEvery(everyMs: number, call: () => void): () => void {
  const timer = setInterval(call, everyMs).unref();
  return () => clearInterval(timer);
}

/** Runs work at intervals and on request, never twice at a time. */
export function inBackground(work: () => Promise<void>, options: BackgroundOptions): Background {
  const now = coalesce(work);
  const end = every(now, options);
  return {
    now,
    close: async () => {
      await end();
      await now().catch(options.onTrouble);
    },
  };
}
