import type { HandlerContext } from "@connectrpc/connect";
import { unavailable } from "../../../errors.js";
import { Budget } from "../../../memory/pacing/budget.js";
import { turn } from "../../../memory/pacing/turn.js";
import { callerOf, takenKey } from "../caller.js";

/** Maximum weight of all answers with texts that are made and not taken yet, and of those to one account. */
const HELD_BYTES_MAX = 100_663_296;
const ACCOUNT_BYTES_MAX = HELD_BYTES_MAX / 4;
/** Maximum number of free answers with texts that are made at once, and that wait for it. */
const MAKING_MAX = 8;
const WAITING_MAX = 256;
const WAIT_MS = 5_000;
/** Factor from a text to its memory: the text, a part of a message, and JSON with up to six bytes for one. */
const COPIES = 4;
/** Weight above which only one answer is written out at a time. */
const LONG_BYTES = 262_144;

/**
 * Bounds the answers that hold texts. Each may take some megabytes and is held until its client takes it.
 * Lists and single memories are not charged, so no quota bounds their number.
 */
export class HeldAnswers {
  #bytes = 0;
  readonly #byAccount = new Map<string, number>();
  readonly #making = new Budget({
    max: MAKING_MAX,
    waitingMax: WAITING_MAX,
    waitMs: WAIT_MS,
    what: "lists",
  });

  /** Makes an answer that costs nothing; few are made at a time. */
  free<T>(
    context: HandlerContext,
    make: () => Promise<T>,
    textsOf: (made: T) => readonly string[],
  ): Promise<T> {
    return this.#making.run(1, () => this.hold(context, make, textsOf));
  }

  /**
   * Makes an answer, and counts it until it was taken. @throws MemoryError `unavailable` when the answers
   * that were not taken yet take too much memory.
   */
  async hold<T>(
    context: HandlerContext,
    make: () => Promise<T>,
    textsOf: (made: T) => readonly string[],
  ): Promise<T> {
    const { accountId } = callerOf(context);
    this.#check(accountId);
    // It may have waited for longer than its caller does.
    context.signal.throwIfAborted();
    const made = await make();
    const bytes = textsOf(made).reduce((sum, text) => sum + text.length, 0) * COPIES;
    this.#add(accountId, bytes);
    void context.values.get(takenKey).then(() => this.#add(accountId, -bytes));
    // Writing the answer out holds the thread for some milliseconds: one at a time.
    if (bytes > LONG_BYTES) await turn();
    return made;
  }

  #check(accountId: string): void {
    const ofAccount = this.#byAccount.get(accountId) ?? 0;
    if (this.#bytes < HELD_BYTES_MAX && ofAccount < ACCOUNT_BYTES_MAX) return;
    throw unavailable("too many long answers wait to be taken; take those first");
  }

  #add(accountId: string, bytes: number): void {
    this.#bytes += bytes;
    const ofAccount = (this.#byAccount.get(accountId) ?? 0) + bytes;
    if (ofAccount > 0) this.#byAccount.set(accountId, ofAccount);
    else this.#byAccount.delete(accountId);
  }
}
