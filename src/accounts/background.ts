import { type EveryOptions, every } from "../every.js";

/** Work that runs now and then, so that no call waits for it. */
export interface Background {
  /** Runs the work now. All that was pending before the call is done when this resolves. */
  now(): Promise<void>;
  /** Runs the work one last time. */
  close(): Promise<void>;
}

export type BackgroundOptions = Omit<EveryOptions, "atOnce">;

/** Runs work at intervals and on request, never twice at a time. */
export function inBackground(work: () => Promise<void>, options: BackgroundOptions): Background {
  let running: Promise<void> = Promise.resolve();
  const now = () => {
    running = running.catch(() => {}).then(work);
    return running;
  };
  const end = every(now, options);
  return {
    now,
    close: async () => {
      await end();
      await now().catch(options.onTrouble);
    },
  };
}
