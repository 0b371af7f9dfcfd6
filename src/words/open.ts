import { WorkerClient } from "../concurrency/worker-client.js";
import type { Mark } from "../memory/ports/vectors.js";
import type { WordIndex, Words } from "../memory/ports/words.js";
import { GrowingIndex } from "./growing-index.js";
import type { WordThread } from "./remote.js";
import type { Turn } from "./slices.js";
import { Shelf } from "./snapshot/shelf.js";

/** Size up to which an index grows in this thread: beyond, its table of words takes milliseconds to double. */
const LOCAL_BYTES_MAX = 2_097_152;

export interface WordsOptions {
  /** Folder of the files; nothing else may be in it. */
  readonly folder: string;
  /** Size of all files beyond which the least recently used ones are erased. */
  readonly folderBytesMax: number;
  /** Lets all other work of this thread that is ready run first. */
  readonly turn: Turn;
  /** Size of an index from which on it moves to a thread. */
  readonly localBytesMax?: number;
}

/** Opens the word indexes. Nothing is started or read before one is used. */
export function openWords(options: WordsOptions): Words {
  return new WordIndexes(options);
}

class WordIndexes implements Words {
  readonly #shelf: Shelf;
  #thread: WordThread | undefined;

  constructor(private readonly options: WordsOptions) {
    this.#shelf = new Shelf(options.folder, options.folderBytesMax);
  }

  open(logId: string): WordIndex {
    const { folder, turn, localBytesMax = LOCAL_BYTES_MAX } = this.options;
    const thread = () => this.#running();
    return new GrowingIndex({ of: { folder, logId }, shelf: this.#shelf, turn, localBytesMax, thread });
  }

  discard(logId: string): Promise<void> {
    return this.#shelf.erase(logId);
  }

  wipe(logId: string, sequences: readonly number[]): Promise<void> {
    return this.#shelf.wipe(logId, sequences);
  }

  holds(logId: string, sequences: readonly number[]): Promise<number[]> {
    return this.#shelf.holds(logId, sequences);
  }

  kept(): Promise<string[]> {
    return this.#shelf.kept();
  }

  markOf(logId: string): Promise<Mark | undefined> {
    return this.#shelf.markOf(logId);
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }

  /** Starts a thread for the first large index, and after one has ended. */
  #running(): WordThread {
    if (this.#thread === undefined || this.#thread.isLost) {
      this.#thread = new WorkerClient({
        script: new URL("./words-worker.js", import.meta.url),
        name: "words",
      });
    }
    return this.#thread;
  }
}
