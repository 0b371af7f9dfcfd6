import type { Mark } from "../memory/ports/vectors.js";
import type { TextRow, WeighedQuery, WordHit, WordQuery, WordsFound } from "../memory/ports/words.js";
import type { Request, RestoredFile } from "./requests.js";
import type { Block } from "./snapshot/block.js";
import type { FileOf } from "./snapshot/file.js";
import type { Thread } from "./thread.js";

/** Number of rows, and of their characters, sent to the thread at a time: copying them takes a millisecond. */
const SLICE_ROWS = 512;
const SLICE_CHARS = 524_288;

/** An index in the thread of the large ones. */
export class Remote {
  size = 0;
  bytes = 0;
  waiting = 0;
  readonly #number: number;

  constructor(private readonly thread: Thread) {
    this.#number = thread.number();
  }

  /** Adds memories slice by slice. The text that reaches a slice's size is its last, whatever its own size. */
  async add(rows: readonly TextRow[]): Promise<number> {
    let leftOut = 0;
    let slice: TextRow[] = [];
    let chars = 0;
    for (const [i, row] of rows.entries()) {
      slice.push(row);
      chars += row.text.length;
      if (slice.length < SLICE_ROWS && chars < SLICE_CHARS && i + 1 < rows.length) continue;
      leftOut += await this.#ask<number>({ op: "add", rows: slice });
      [slice, chars] = [[], 0];
    }
    return leftOut;
  }

  remove(sequences: readonly number[]): Promise<void> {
    return this.#ask({ op: "remove", sequences });
  }

  search({ text, limit, among }: WordQuery): Promise<WordsFound> {
    return this.#ask({ op: "search", text, limit, among });
  }

  score(query: WeighedQuery, sequences: readonly number[]): Promise<WordHit[]> {
    return this.#ask({ op: "score", query, sequences });
  }

  sample(): Promise<number[]> {
    return this.#ask({ op: "sample" });
  }

  /** Adds a block, whose bytes are copied to the thread. */
  addBlock({ bytes }: Block): Promise<void> {
    return this.#ask({ op: "addBlock", bytes });
  }

  /** Fills the empty index from a file; undefined if that is in doubt. */
  restore(of: FileOf): Promise<RestoredFile> {
    return this.#ask({ op: "restore", of });
  }

  /** Writes a draft of a file. */
  snapshot(of: FileOf, mark: Mark): Promise<void> {
    return this.#ask({ op: "snapshot", of, mark });
  }

  async close(): Promise<void> {
    // If the thread has ended, the index has too.
    await this.#ask({ op: "close" }).catch(() => {});
  }

  async #ask<T>(request: Request): Promise<T> {
    this.waiting++;
    try {
      const { value, size, bytes } = await this.thread.ask(this.#number, request);
      this.size = size;
      this.bytes = bytes;
      return value as T;
    } finally {
      this.waiting--;
    }
  }
}
