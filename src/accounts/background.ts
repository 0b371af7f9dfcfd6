/** Work that is done now and then, so that calls need not wait for it. */
export interface Background {
  /** Does it now: all that was there to do before the call is done when this resolves. */
  now(): Promise<void>;
  /** Does it one last time. */
  close(): Promise<void>;
}

export interface BackgroundOptions {
  readonly everyMs: number;
  /** Told when it failed; it is tried again at the next turn. */
  onTrouble(error: unknown): void;
}

/** Runs work every so often, never twice at once. */
export function inBackground(
  work: () => Promise<void>,
  { everyMs, onTrouble }: BackgroundOptions,
): Background {
  let running: Promise<void> = Promise.resolve();
  const now = () => {
    running = running.catch(() => {}).then(work);
    return running;
  };
  const timer = setInterval(() => now().catch(onTrouble), everyMs).unref();
  return {
    now,
    close: async () => {
      clearInterval(timer);
      await now().catch(onTrouble);
    },
  };
}
