/** A token bucket: it holds `burst` at most, and `perSecond` flow in. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A bucket that one was taken of, or tried to. */
export interface Taken {
  /** What to keep of the bucket, when one was taken: when it will be full again. */
  readonly fullAtMs: number;
  /** Until it holds one; 0 or less when one was there to take. */
  readonly waitMs: number;
}

/** Smaller than any wait that matters, larger than what the arithmetic is off by. */
const HAIR = 1e-6;

/**
 * The generic cell rate algorithm: of a bucket, all that must be kept is when it will be full again.
 * A bucket of which nothing is kept is full.
 */
export function take(fullAtMs = 0, { perSecond, burst }: Rate, nowMs: number): Taken {
  const oneMs = 1000 / perSecond;
  const after = Math.max(fullAtMs, nowMs) + oneMs;
  return { fullAtMs: after, waitMs: after - nowMs - burst * oneMs - HAIR };
}

/** How many a bucket holds. */
export function held(fullAtMs: number, { perSecond, burst }: Rate, nowMs: number): number {
  const missing = (Math.max(0, fullAtMs - nowMs) * perSecond) / 1000;
  return Math.max(0, Math.floor(burst - missing + HAIR));
}
