/**
 * Lets callers share a run, but only one that has not begun when they call, so that every caller sees all
 * that happened before its call.
 */
export function coalesce<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = () => {
    next = undefined;
    const begun = run();
    running = begun;
    return begun;
  };
  return () => {
    next ??= running.then(begin, begin);
    return next;
  };
}
