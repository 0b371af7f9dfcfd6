import type { TextRow, WeighedQuery, WordHit, WordsFound } from "../memory/ports/words.js";
import { compact, isFragmented } from "./compact.js";
import { Contents } from "./contents.js";
import { Lock } from "./lock.js";
import { findBest } from "./search.js";
import { inSlices, type Turn } from "./slices.js";
import { wordsIn } from "./text/words-in.js";

/** An index in this thread: calls take effect in their order, and let other work run every few milliseconds. */
export class Guarded {
  #contents = new Contents();
  readonly #lock = new Lock();

  constructor(private readonly turn: Turn) {}

  get size(): number {
    return this.#contents.memories.living;
  }

  get bytes(): number {
    return this.#contents.bytes;
  }

  get waiting(): number {
    return this.#lock.waiting;
  }

  add(rows: readonly TextRow[]): Promise<number> {
    return this.#lock.write(() => inSlices(this.#add(rows), this.turn));
  }

  remove(sequences: readonly number[]): Promise<void> {
    return this.#lock.write(async () => {
      this.#contents.remove(sequences);
      if (!isFragmented(this.#contents)) return;
      this.#contents = await inSlices(compact(this.#contents), this.turn);
    });
  }

  search({ text, limit }: { readonly text: string; readonly limit: number }): Promise<WordsFound> {
    return this.#lock.read(() => inSlices(this.#search(text, limit), this.turn));
  }

  score(query: WeighedQuery, sequences: readonly number[]): Promise<WordHit[]> {
    return this.#lock.read(() => inSlices(this.#contents.score(query, sequences), this.turn));
  }

  /** Changes the contents, or replaces them by others. */
  change<T>(work: (contents: Contents, replace: (by: Contents) => void) => Generator<void, T>): Promise<T> {
    const replace = (by: Contents) => {
      this.#contents = by;
    };
    return this.#lock.write(() => inSlices(work(this.#contents, replace), this.turn));
  }

  /** Reads the contents, which stay as they are meanwhile. */
  read<T>(work: (contents: Contents) => Generator<void, T>): Promise<T> {
    return this.#lock.read(() => inSlices(work(this.#contents), this.turn));
  }

  *#add(rows: readonly TextRow[]): Generator<void, number> {
    let leftOut = 0;
    for (const { sequence, text } of rows) {
      const words = yield* wordsIn(text, "memory");
      yield* this.#contents.add(sequence, words);
      leftOut += words.leftOut;
      yield;
    }
    return leftOut;
  }

  *#search(text: string, limit: number): Generator<void, WordsFound> {
    const words = yield* wordsIn(text, "query");
    const query = yield* this.#contents.weigh(words);
    return { query, heard: yield* findBest(this.#contents, query, limit) };
  }
}
