/** Time as the client sees it. Tests bring their own. */
export interface Clock {
  /** Milliseconds since any moment; never goes back. */
  now(): number;
  /** Calls `run` once after some milliseconds. Returns a function that prevents it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
