/**
 * Lets callers share a run, but only one that has not begun when they call, so that every caller sees all
 * that happened before its call.
 *
 * @param pause waited for after each run before the next one begins; without it, that begins at once
 */
export function coalesce<T>(run: () => Promise<T>, pause?: () => Promise<unknown>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = () => {
    next = undefined;
    const begun = run();
    running = pause === undefined ? begun : begun.then(pause, pause);
    return begun;
  };
  return () => {
    next ??= running.then(begin, begin);
    return next;
  };
}
