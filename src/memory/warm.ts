import type { Clock } from "./clock.js";
import type { Namespaces } from "./namespaces.js";
import type { Recent } from "./recent.js";

/** Namespaces opened at start at most, and how long that may take; the others open on first use. */
const WARM_MAX = 1000;
const WARM_TIMEOUT_MS = 60_000;

export interface WarmOptions {
  readonly recent: Recent;
  readonly namespaces: Namespaces;
  readonly clock: Clock;
  /** Aborted when the process is to end. */
  readonly stopping: AbortSignal;
  /** Told after each one. */
  onProgress?(done: number, of: number): void;
}

/**
 * Opens the namespaces that were used last, so that their first recall does not wait for an index to
 * be built. Stops when the budget is full or the time is up, and passes over one that cannot be opened:
 * its first call says why. Answers how many it opened.
 */
export async function warm({
  recent,
  namespaces,
  clock,
  stopping,
  onProgress,
}: WarmOptions): Promise<number> {
  const deadlineMs = clock.nowMs() + WARM_TIMEOUT_MS;
  const scopes = await recent.list(WARM_MAX);
  let opened = 0;
  for (const [i, scope] of scopes.entries()) {
    if (stopping.aborted || namespaces.isFull || clock.nowMs() > deadlineMs) break;
    await namespaces
      .reading(scope, ({ replica }) => replica.current())
      .then(
        () => opened++,
        () => {},
      );
    onProgress?.(i + 1, scopes.length);
  }
  return opened;
}
