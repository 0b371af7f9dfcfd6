import type { HandlerContext } from "@connectrpc/connect";
import { unavailable } from "../../errors.js";
import { Budget } from "../../memory/pacing/budget.js";
import { turn } from "../../memory/pacing/turn.js";
import { callerOf, takenKey } from "./caller.js";

/** What all answers with texts may weigh that are made but not taken yet, and those to one account. */
const HELD_BYTES_MAX = 100_663_296;
const ACCOUNT_BYTES_MAX = HELD_BYTES_MAX / 4;
/** Answers with texts that are free to ask for: made at once, and waiting for that. */
const MAKING_MAX = 8;
const WAITING_MAX = 256;
const WAIT_MS = 5_000;
/** A text is held as such, as a part of a message, and written out; JSON may write a byte as six. */
const COPIES = 4;
/** An answer of so much is written out when it is its turn. */
const LONG_BYTES = 262_144;

/**
 * Bounds the answers that hold texts. Each may take some megabytes, is held until its client takes it,
 * and of lists and single memories there is no charge that would bound their number.
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

  /** Makes an answer that costs nothing: few at a time. */
  free<T>(
    context: HandlerContext,
    make: () => Promise<T>,
    textsOf: (made: T) => readonly string[],
  ): Promise<T> {
    return this.#making.run(1, () => this.hold(context, make, textsOf));
  }

  /** @throws MemoryError `unavailable` when the answers that were not taken yet take too much memory. */
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
    // Writing it out holds the thread for some milliseconds: one such answer at a time.
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
