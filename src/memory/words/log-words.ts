import type { Clock } from "../pacing/clock.js";
import { type Entry, forgottenBy, type Log, type Numbered } from "../ports/log.js";
import type { SharedStep, Steps } from "../ports/steps.js";
import type { Words } from "../ports/words.js";
import type { Hearing } from "./hearing.js";
import { type Listening, WordReplica } from "./word-replica.js";

export interface LogWordsOptions {
  readonly log: Pick<Log, "read" | "fetch">;
  readonly words: Words;
  readonly clock: Clock;
  readonly steps?: Steps<SharedStep> | undefined;
  /** Called with failures beside the calls; the work is done again when it is next due. */
  onTrouble?: ((error: unknown) => void) | undefined;
  /** Tells whether a memory's vectors can be compared with those of the log's model. */
  fits(vectors: readonly Float32Array[]): boolean;
}

/** The words of one log, of which an index is built when they are asked for first. */
export class LogWords {
  #replica: WordReplica | undefined;
  /** Closing of replicas that failed: only one index may use a log's file. */
  #closing: Promise<void> = Promise.resolve();
  /** Wipes under way in the file, and the first failure of one. */
  #wiping: Promise<void> = Promise.resolve();
  #unwiped: unknown;

  constructor(
    private readonly logId: string,
    private readonly options: LogWordsOptions,
  ) {}

  get bytes(): number {
    return this.#replica?.bytes ?? 0;
  }

  get waiting(): number {
    return this.#replica?.waiting ?? 0;
  }

  /** Tells whether it wants the texts of the entries from this number on. */
  follows(sequence: number): boolean {
    return this.#replica?.isAt(sequence - 1) ?? false;
  }

  /** Finds the memories whose words fit a text best. The first call builds the index. */
  async hear(listening: Listening): Promise<Hearing> {
    return (await this.#opened()).hear(listening);
  }

  /** Takes entries of the log that were applied elsewhere, in their order. */
  take(entries: readonly Numbered<Entry<"head">>[]): void {
    const targets = entries.flatMap(({ entry }) => forgottenBy(entry) ?? []);
    this.#replica?.offer(entries);
    if (targets.length === 0) return;
    // Words of deleted memories leave the file too, whether the index is open or not. First they leave the
    // index, so that no later file has them.
    const forgotten = this.forget(targets).catch(() => {});
    const wiping = forgotten.then(() => this.options.words.wipe(this.logId, targets));
    const noted = wiping.catch((error) => this.#note(error));
    this.#wiping = Promise.all([this.#wiping, noted]).then(() => {});
  }

  /** Removes memories from the index; `Words.wipe` removes them from its file. */
  async forget(sequences: readonly number[]): Promise<void> {
    await this.#replica?.forget(sequences);
  }

  /** Stops the building of the index; resolves when nothing is added any more. */
  async stop(): Promise<void> {
    await this.#replica?.stop();
  }

  /** Closes the index. @throws the first failure to wipe a memory in the file. */
  async close({ keeps }: { keeps: boolean }): Promise<void> {
    await this.#closing;
    const replica = this.#replica;
    this.#replica = undefined;
    await replica?.close({ keeps });
    await this.#wiping;
    if (this.#unwiped !== undefined) throw this.#unwiped;
  }

  async #opened(): Promise<WordReplica> {
    if (this.#replica?.broken) this.#replace(this.#replica);
    await this.#closing;
    this.#replica ??= this.#open();
    return this.#replica;
  }

  #replace(failed: WordReplica): void {
    this.#replica = undefined;
    const closing = failed.close({ keeps: false }).catch((error) => this.options.onTrouble?.(error));
    this.#closing = Promise.all([this.#closing, closing]).then(() => {});
  }

  #open(): WordReplica {
    const { words, onTrouble, ...options } = this.options;
    return new WordReplica({
      ...options,
      logId: this.logId,
      index: words.open(this.logId),
      discard: () => words.discard(this.logId),
      onTrouble: (error) => onTrouble?.(error),
    });
  }

  #note(error: unknown): void {
    this.#unwiped ??= error;
  }
}
