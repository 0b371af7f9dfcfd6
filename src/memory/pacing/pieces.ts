import { Piece } from "./bounds.js";
import type { Clock } from "./clock.js";

/** Runs work that yields often, and lets other work run whenever it has held the main thread for long enough. */
export async function inPieces<T>(work: Generator<void, T>, clock: Pick<Clock, "yield">): Promise<T> {
  let piece = new Piece();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (!piece.isOver) continue;
    await clock.yield();
    piece = new Piece();
  }
}

/** Works on each item as `inPieces` does; answers the results in order. */
export function mapInPieces<T, R>(
  items: readonly T[],
  clock: Pick<Clock, "yield">,
  work: (item: T, i: number) => R,
): Promise<R[]> {
  return inPieces(eachOf(items, work), clock);
}

function* eachOf<T, R>(items: readonly T[], work: (item: T, i: number) => R): Generator<void, R[]> {
  const results: R[] = [];
  for (const [i, item] of items.entries()) {
    results.push(work(item, i));
    yield;
  }
  return results;
}
