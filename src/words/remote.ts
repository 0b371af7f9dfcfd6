import type { Mark } from "../memory/ports/vectors.js";
import type { TextRow, WeighedQuery, WordHit, WordsFound } from "../memory/ports/words.js";
import type { Request, RestoredFile } from "./requests.js";
import type { Block } from "./snapshot/block.js";
import type { FileOf } from "./snapshot/file.js";
import type { Thread } from "./thread.js";

/** Number of rows sent to the thread at a time, so that it begins while the rest is being copied. */
const SLICE_ROWS = 256;

/** An index in the thread of the large ones. */
export class Remote {
  size = 0;
  bytes = 0;
  waiting = 0;
  readonly #number: number;

  constructor(private readonly thread: Thread) {
    this.#number = thread.number();
  }

  async add(rows: readonly TextRow[]): Promise<number> {
    const added: Promise<number>[] = [];
    for (let from = 0; from < rows.length; from += SLICE_ROWS) {
      added.push(this.#ask({ op: "add", rows: rows.slice(from, from + SLICE_ROWS) }));
    }
    return (await Promise.all(added)).reduce((sum, leftOut) => sum + leftOut, 0);
  }

  remove(sequences: readonly number[]): Promise<void> {
    return this.#ask({ op: "remove", sequences });
  }

  search({ text, limit }: { readonly text: string; readonly limit: number }): Promise<WordsFound> {
    return this.#ask({ op: "search", text, limit });
  }

  score(query: WeighedQuery, sequences: readonly number[]): Promise<WordHit[]> {
    return this.#ask({ op: "score", query, sequences });
  }

  /** Adds a block, whose bytes move to the thread. */
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
