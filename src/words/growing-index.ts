import type { Mark, Restored } from "../memory/ports/vectors.js";
import type {
  TextRow,
  WeighedQuery,
  WordHit,
  WordIndex,
  WordQuery,
  WordsFound,
} from "../memory/ports/words.js";
import { Guarded } from "./guarded.js";
import { Lock } from "./lock.js";
import { Remote, type WordThread } from "./remote.js";
import type { Turn } from "./slices.js";
import type { FileOf } from "./snapshot/file.js";
import type { Shelf } from "./snapshot/shelf.js";

/** Number of rows added in this thread before the size is looked at. */
const LOCAL_ROWS = 16;

export interface GrowingOptions {
  readonly of: FileOf;
  readonly shelf: Shelf;
  readonly turn: Turn;
  /** Size from which on it moves to the thread. */
  readonly localBytesMax: number;
  thread(): WordThread;
}

/** The word index of one log: in this thread while small, in the thread of the large ones from then on. */
export class GrowingIndex implements WordIndex {
  onSnapshotLost: () => void = () => {};
  #local: Guarded;
  #remote: Remote | undefined;
  /** Calls take effect in their order, also while the index moves. */
  readonly #lock = new Lock();

  constructor(private readonly options: GrowingOptions) {
    this.#local = new Guarded(options.turn);
    options.shelf.onLost.set(options.of.logId, () => this.onSnapshotLost());
  }

  get size(): number {
    return this.#index.size;
  }

  get bytes(): number {
    return this.#index.bytes;
  }

  get waiting(): number {
    return this.#lock.waiting + this.#index.waiting;
  }

  get large(): boolean {
    return this.#remote !== undefined;
  }

  restore(): Promise<Restored | undefined> {
    const { of, shelf, thread } = this.options;
    return this.#lock.write(async () => {
      // A small index has no file, and needs no thread.
      if ((await shelf.markOf(of.logId)) === undefined) return undefined;
      const remote = new Remote(thread());
      const restored = await shelf.inTurn(of.logId, () => remote.restore(of));
      if (restored === undefined) await remote.close();
      else this.#remote = remote;
      return restored;
    });
  }

  reset(): Promise<void> {
    const { of, shelf, turn } = this.options;
    return this.#lock.write(async () => {
      await this.#remote?.close();
      this.#remote = undefined;
      this.#local = new Guarded(turn);
      await shelf.erase(of.logId);
    });
  }

  snapshot(mark: Mark): Promise<void> {
    const { of, shelf } = this.options;
    return this.#lock.read(async () => {
      const remote = this.#remote;
      if (remote !== undefined) await shelf.keep(of.logId, () => remote.snapshot(of, mark));
    });
  }

  add(rows: readonly TextRow[]): Promise<number> {
    return this.#lock.write(() => this.#add(rows));
  }

  remove(sequences: readonly number[]): Promise<void> {
    return this.#lock.write(() => this.#index.remove(sequences));
  }

  search(query: WordQuery): Promise<WordsFound> {
    return this.#lock.read(() => this.#index.search(query));
  }

  score(query: WeighedQuery, sequences: readonly number[]): Promise<WordHit[]> {
    return this.#lock.read(() => this.#index.score(query, sequences));
  }

  sample(): Promise<readonly number[]> {
    return this.#lock.read(() => this.#index.sample());
  }

  async close(): Promise<void> {
    this.options.shelf.onLost.delete(this.options.of.logId);
    await this.#remote?.close();
  }

  get #index(): Guarded | Remote {
    return this.#remote ?? this.#local;
  }

  /** Adds rows, here only until the index is large. */
  async #add(rows: readonly TextRow[]): Promise<number> {
    let leftOut = 0;
    let from = 0;
    for (; this.#remote === undefined && from < rows.length; from += LOCAL_ROWS) {
      leftOut += await this.#local.add(rows.slice(from, from + LOCAL_ROWS));
      if (this.#local.bytes > this.options.localBytesMax) await this.#move();
    }
    return leftOut + (await this.#index.add(rows.slice(from)));
  }

  async #move(): Promise<void> {
    const remote = new Remote(this.options.thread());
    await this.#local.eachBlock((block) => remote.addBlock(block));
    this.#remote = remote;
    this.#local = new Guarded(this.options.turn);
  }
}
