import { setImmediate as nextIteration } from "node:timers/promises";

let last: Promise<void> = Promise.resolve();

/**
 * Lets all other work that is ready run first. One waiting caller continues in each iteration of the event
 * loop, so connections are served after each piece of work, however many pieces wait.
 */
export function yieldToEventLoop(): Promise<void> {
  last = last.then(() => nextIteration());
  return last;
}
