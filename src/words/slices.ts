/** Time after which work lets other work of its thread run. */
const PIECE_MS_MAX = 5;

/** Lets all other work that is ready run first. */
export type Turn = () => Promise<void>;

/** Runs work that yields often, and lets other work run whenever it has held the thread for long enough. */
export async function inSlices<T>(work: Generator<void, T>, turn: Turn): Promise<T> {
  let endsMs = performance.now() + PIECE_MS_MAX;
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() < endsMs) continue;
    await turn();
    endsMs = performance.now() + PIECE_MS_MAX;
  }
}
