import { setImmediate as nextIteration } from "node:timers/promises";

let last: Promise<void> = Promise.resolve();

/**
 * Lets everything else that is ready run first. Of all who wait for their turn, one goes on in each
 * iteration of the event loop: however many long pieces of work there are, connections are served
 * after each of them.
 */
export function turn(): Promise<void> {
  last = last.then(() => nextIteration());
  return last;
}
