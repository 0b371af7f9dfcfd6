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
