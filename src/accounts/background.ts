import { type EveryOptions, every } from "../every.js";

/** Work that is done now and then, so that calls need not wait for it. */
export interface Background {
  /** Does it now: all that was there to do before the call is done when this resolves. */
  now(): Promise<void>;
  /** Does it one last time. */
  close(): Promise<void>;
}

export type BackgroundOptions = Omit<EveryOptions, "atOnce">;

/** Runs work every so often and when it is asked for, never twice at once. */
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
