import type { WorkerClient } from "../concurrency/worker-client.js";
import { unavailable } from "../errors.js";
import type { Mark, Restored } from "../memory/ports/vectors.js";
import type { TextRow, WeighedQuery, WordHit, WordQuery, WordsFound } from "../memory/ports/words.js";
import type { Block } from "./snapshot/block.js";
import type { FileOf } from "./snapshot/file.js";
import type { Measured, WordHandlers } from "./words-worker.js";

/** Number of rows, and of their characters, sent to the thread at a time: copying them takes a millisecond. */
const SLICE_ROWS = 512;
const SLICE_CHARS = 524_288;

/** Maximum number of calls that wait for the thread before searches are refused. */
const WAITING_MAX = 1024;

export type WordThread = WorkerClient<WordHandlers>;

/** An index in the thread of the large ones. If the thread is lost, the index is, and every call fails. */
export class Remote {
  size = 0;
  bytes = 0;
  waiting = 0;
  static #opened = 0;
  /** Number of this index in the thread. */
  readonly #index = Remote.#opened++;

  constructor(private readonly thread: WordThread) {}

  /** Adds memories slice by slice. The text that reaches a slice's size is its last, whatever its own size. */
  async add(rows: readonly TextRow[]): Promise<number> {
    let leftOut = 0;
    let slice: TextRow[] = [];
    let chars = 0;
    for (const [i, row] of rows.entries()) {
      slice.push(row);
      chars += row.text.length;
      if (slice.length < SLICE_ROWS && chars < SLICE_CHARS && i + 1 < rows.length) continue;
      leftOut += await this.#measure(this.thread.call("add", { index: this.#index, rows: slice }));
      [slice, chars] = [[], 0];
    }
    return leftOut;
  }

  remove(sequences: readonly number[]): Promise<void> {
    return this.#measure(this.thread.call("remove", { index: this.#index, sequences }));
  }

  async search({ text, limit, among }: WordQuery): Promise<WordsFound> {
    if (this.thread.pending >= WAITING_MAX) {
      throw unavailable("too many searches wait for the words of memories");
    }
    const query = { text, limit, among };
    return this.#measure(this.thread.call("search", { index: this.#index, query }));
  }

  score(query: WeighedQuery, sequences: readonly number[]): Promise<WordHit[]> {
    return this.#measure(this.thread.call("score", { index: this.#index, query, sequences }));
  }

  sample(): Promise<number[]> {
    return this.#measure(this.thread.call("sample", { index: this.#index }));
  }

  /** Adds a block, whose bytes are copied to the thread. */
  addBlock({ bytes }: Block): Promise<void> {
    return this.#measure(this.thread.call("addBlock", { index: this.#index, bytes }));
  }

  /** Fills the empty index from a file; undefined if that is in doubt. */
  restore(file: FileOf): Promise<Restored | undefined> {
    return this.#measure(this.thread.call("restore", { index: this.#index, file }));
  }

  /** Writes a draft of a file. */
  snapshot(file: FileOf, mark: Mark): Promise<void> {
    return this.#measure(this.thread.call("snapshot", { index: this.#index, file, mark }));
  }

  async close(): Promise<void> {
    // If the thread has ended, the index has too.
    await this.thread.call("close", { index: this.#index }).catch(() => {});
  }

  async #measure<T>(called: Promise<Measured<T>>): Promise<T> {
    this.waiting++;
    try {
      const { value, size, bytes } = await called;
      this.size = size;
      this.bytes = bytes;
      return value;
    } finally {
      this.waiting--;
    }
  }
}
