/**
 * Lets callers share a run, but only one that has not begun when they call, so that every caller sees all
 * that happened before its call.
 */
export function coalesce(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const begin = () => {
    next = undefined;
    running = run();
    return running;
  };
  return () => {
    next ??= running.then(begin, begin);
    return next;
  };
}
