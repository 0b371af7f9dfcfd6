import { wordsIn } from "../index/words/text/words-in.js";
import type { TextRow, WeighedQuery, WordHit, WordQuery, WordsFound } from "../memory/ports/words.js";
import { addBlock, blocksOf } from "./blocks.js";
import { compact, isFragmented } from "./compact.js";
import { Contents } from "./contents.js";
import { Lock } from "./lock.js";
import { findBest } from "./search.js";
import { inSlices, type Turn } from "./slices.js";
import type { Block } from "./snapshot/block.js";

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

  search(query: WordQuery): Promise<WordsFound> {
    return this.#lock.read(() => inSlices(this.#search(query), this.turn));
  }

  score(query: WeighedQuery, sequences: readonly number[]): Promise<WordHit[]> {
    return this.#lock.read(() => inSlices(this.#contents.score(query, sequences), this.turn));
  }

  sample(): Promise<number[]> {
    return this.#lock.read(async () => [...(await inSlices(this.#contents.memories.sample(), this.turn))]);
  }

  /** Hands over what lives, block by block, in the order of the log. */
  eachBlock(take: (block: Block) => Promise<void>): Promise<void> {
    return this.#lock.read(() => this.#handOver(take));
  }

  /**
   * Replaces the contents by those of blocks. Answers the memories that were wiped in them; if that fails, the
   * contents stay as they are.
   */
  load(read: (take: (block: Block) => Promise<void>) => Promise<void>): Promise<number[]> {
    return this.#lock.write(async () => {
      const contents = new Contents();
      const wiped: number[] = [];
      await read(async (block) => {
        wiped.push(...(await inSlices(addBlock(contents, block), this.turn)));
        await this.turn();
      });
      this.#contents = contents;
      return wiped;
    });
  }

  /** Adds the memories of a block, which follow all others. */
  addBlock(block: Block): Promise<unknown> {
    return this.#lock.write(() => inSlices(addBlock(this.#contents, block), this.turn));
  }

  async #handOver(take: (block: Block) => Promise<void>): Promise<void> {
    const ready: Block[] = [];
    const work = blocksOf(this.#contents, (block) => ready.push(block));
    for (let isDone = false; !isDone; ) {
      isDone = await inSlices(untilAny(work, ready), this.turn);
      for (const block of ready.splice(0)) await take(block);
      await this.turn();
    }
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

  *#search({ text, limit, among }: WordQuery): Generator<void, WordsFound> {
    const words = yield* wordsIn(text, "query");
    const query = yield* this.#contents.weigh(words);
    return { query, heard: yield* findBest(this.#contents, query, { limit, among }) };
  }
}

/** Runs work until a block is ready; answers whether the work has ended. */
function* untilAny(work: Generator<void>, ready: readonly Block[]): Generator<void, boolean> {
  for (;;) {
    if (work.next().done) return true;
    if (ready.length > 0) return false;
    yield;
  }
}
