/** Time that those who wait have together in one iteration of the event loop. */
const ITERATION_MS_MAX = 5;

/** Callers that wait, the one that has waited longest first. Each has an immediate that lets the first of them go on. */
const waiting: (() => void)[] = [];
/** Time at which the others wait for the next iteration; undefined before the first has continued in this one. */
let endsMs: number | undefined;

/**
 * Lets all other work that is ready run first. In each iteration of the event loop as many waiting callers continue, in
 * their order, as begin within some milliseconds: connections are served in between, however many wait, and short
 * pieces of work do not take an iteration each, which is long when thousands of connections have something to say.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    setImmediate(goOn);
  });
}

function goOn(): void {
  // The first goes on whatever the clock says.
  const isDue = endsMs === undefined || performance.now() < endsMs;
  if (endsMs === undefined) {
    endsMs = performance.now() + ITERATION_MS_MAX;
    // It is the first of the next iteration.
    setImmediate(() => {
      endsMs = undefined;
    });
  }
  // Who has just gone on may wait again already, but behind those who have not.
  if (isDue) waiting.shift()?.();
  else setImmediate(goOn);
}
