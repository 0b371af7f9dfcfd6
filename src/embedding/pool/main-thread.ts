import { SERVICE } from "../../memory/ports/embedder.js";
import { RUN_COST } from "../encode/cost.js";
import type { Encoded, Encoder } from "../encode/encoder.js";
import type { Chunk } from "./task.js";

/** Maximum time for which a text may be expected to hold the main thread. */
export const HELD_MS_MAX = 5;
/** Maximum length of such a text in UTF-16 units: blanks have no tokens, but the tokenizer reads them. */
export const UNITS_MAX = 512;
/** Number of tokens of a short query: a model that takes too long for it is not loaded on the main thread. */
const QUERY_TOKENS = 16;

/** True if a model is so fast that the main thread may read a short query. */
export function isFast(msPerCost: number): boolean {
  return msPerCost * (RUN_COST + QUERY_TOKENS) <= HELD_MS_MAX;
}

/**
 * The model on the main thread. It reads short texts that are alone, because a message to a thread that sleeps
 * and back takes as long as such a text. Native code that never returns would hold the process, and no
 * timeout can end it here.
 */
export class MainThread {
  /**
   * @param encoder must be of the same model as the workers'
   * @param isFree true if no call is under way but the one that asks
   */
  constructor(
    private readonly encoder: Pick<Encoder, "prepare" | "close">,
    private readonly isFree: () => boolean,
  ) {}

  /** True if a text may be read here now, by the time that a cost of 1 takes. */
  suits({ text, cost, task }: Chunk, msPerCost: number): boolean {
    const isShort = text.length <= UNITS_MAX && cost * msPerCost <= HELD_MS_MAX;
    return isShort && task.input.owner !== SERVICE && this.isFree();
  }

  /**
   * Tokenizes a text, and returns the function that reads it; undefined if it takes too long for this thread,
   * because the estimate knows no vocabulary.
   */
  prepare({ text, task }: Chunk, msPerCost: number): (() => Promise<Encoded>) | undefined {
    const beganMs = performance.now();
    try {
      const { length, run } = this.encoder.prepare({ text, field: task.input.field });
      if ((RUN_COST + length) * msPerCost > HELD_MS_MAX) return undefined;
      const preparedMs = performance.now() - beganMs;
      return () => timed(run, preparedMs);
    } catch (error) {
      return () => Promise.reject(error);
    }
  }

  close(): Promise<void> {
    return this.encoder.close();
  }
}

/**
 * Measures a run on the main thread. The model begins in the next iteration of the event loop, directly after
 * this callback; what the loop does before that is not the text's time.
 */
async function timed(run: () => Promise<Encoded>, preparedMs: number): Promise<Encoded> {
  let beganMs = performance.now();
  setImmediate(() => {
    beganMs = performance.now();
  });
  const encoded = await run();
  return { ...encoded, ms: preparedMs + performance.now() - beganMs };
}
