import { setImmediate as nextTurn } from "node:timers/promises";
import { handleCalls } from "../concurrency/worker-handlers.js";
import type { Mark, Restored } from "../memory/ports/vectors.js";
import type { TextRow, WeighedQuery, WordQuery } from "../memory/ports/words.js";
import { Guarded } from "./guarded.js";
import { Block } from "./snapshot/block.js";
import { type FileOf, readBlocks, writeDraft } from "./snapshot/file.js";

// The thread of all large indexes. Their work takes turns in it, a few milliseconds each.

const indexes = new Map<number, Guarded>();

async function restore(index: Guarded, of: FileOf): Promise<Restored | undefined> {
  try {
    const read: { mark?: Awaited<ReturnType<typeof readBlocks>> } = {};
    const wiped = await index.load(async (take) => {
      read.mark = await readBlocks(of, take);
    });
    return read.mark === undefined ? undefined : { ...read.mark, wiped };
  } catch {
    // A missing or damaged file is rebuilt from the log.
    return undefined;
  }
}

/** Message about one of the indexes. */
type About<T = object> = T & { readonly index: number };

/** A result, with the index's size after it. */
export interface Measured<T> {
  readonly value: T;
  readonly size: number;
  readonly bytes: number;
}

/** Does work on an index, which the first call about it creates. */
async function on<T>({ index: number }: About, work: (index: Guarded) => Promise<T>): Promise<Measured<T>> {
  const index = indexes.get(number) ?? new Guarded(() => nextTurn());
  indexes.set(number, index);
  const value = await work(index);
  return { value, size: index.size, bytes: index.bytes };
}

const handlers = {
  addBlock: (of: About<{ bytes: Uint8Array }>) => {
    return on(of, (index) => index.addBlock(Block.take(of.bytes)).then(() => undefined));
  },
  add: (of: About<{ rows: readonly TextRow[] }>) => on(of, (index) => index.add(of.rows)),
  remove: (of: About<{ sequences: readonly number[] }>) => on(of, (index) => index.remove(of.sequences)),
  search: (of: About<{ query: WordQuery }>) => on(of, (index) => index.search(of.query)),
  score: (of: About<{ query: WeighedQuery; sequences: readonly number[] }>) => {
    return on(of, (index) => index.score(of.query, of.sequences));
  },
  sample: (of: About) => on(of, (index) => index.sample()),
  snapshot: (of: About<{ file: FileOf; mark: Mark }>) => {
    return on(of, (index) => writeDraft(of.file, of.mark, (emit) => index.eachBlock(emit)));
  },
  restore: (of: About<{ file: FileOf }>) => on(of, (index) => restore(index, of.file)),
  close: ({ index }: About) => void indexes.delete(index),
};
export type WordHandlers = typeof handlers;
handleCalls(handlers);
