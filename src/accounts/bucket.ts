/** A token bucket: it holds up to `burst` tokens, and gains `perSecond` each second. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The result of taking one token from a bucket. */
export interface Taken {
  /** Time when the bucket will be full again: the state to keep if a token was taken. */
  readonly fullAtMs: number;
  /** Time until the bucket holds a token; 0 or less if one was taken. */
  readonly waitMs: number;
}

/** Tolerance: smaller than any wait that matters, larger than the rounding errors. */
const HAIR = 1e-6;

/**
 * Takes one token, by the generic cell rate algorithm: the only state of a bucket is the time when it
 * will be full again. A bucket without state is full.
 */
export function take(fullAtMs = 0, { perSecond, burst }: Rate, nowMs: number): Taken {
  const oneMs = 1000 / perSecond;
  const after = Math.max(fullAtMs, nowMs) + oneMs;
  return { fullAtMs: after, waitMs: after - nowMs - burst * oneMs - HAIR };
}

/** Counts the tokens in a bucket. */
export function held(fullAtMs: number, { perSecond, burst }: Rate, nowMs: number): number {
  const missing = (Math.max(0, fullAtMs - nowMs) * perSecond) / 1000;
  return Math.max(0, Math.floor(burst - missing + HAIR));
}
