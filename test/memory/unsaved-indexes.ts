import { yieldToEventLoop } from "../../src/concurrency/yield-to-event-loop.js";
import { LogIndex } from "../../src/index/log-index.js";
import { openIndexes } from "../../src/index/open.js";
import { TextIndex } from "../../src/index/text-index.js";
import type { Vectors } from "../../src/index/vectors/usearch.js";
import type { Index, Indexes } from "../../src/memory/ports/index.js";
import { plainIndex } from "./plain-index.js";

export interface UnsavedOptions {
  /** Lets other work run; where time is simulated, no turn of the event loop may pass. */
  readonly yieldNow?: () => Promise<void>;
  /** Their vectors, which may have files; left out, they only remember. */
  readonly vectors?: Vectors;
}

/** Vectors of which each index is made by the test. */
export function vectorsOf(open: (logId: string) => ReturnType<typeof plainIndex>): Vectors {
  return {
    open,
    openInMemory: () => open(""),
    discard: async () => {},
    stored: async () => [],
    markOf: async () => undefined,
    measureFiles: async () => ({ upto: 0, files: 0, bytes: 0, rows: 0, removed: 0 }),
    measureRecall: async () => ({ found: 0, compared: 0 }),
    wipe: async () => {},
    holds: async () => [],
  };
}

/** Makes indexes whose words and fields have no files. It lists those opened with their log. */
export function unsavedIndexes(
  changes: Partial<Indexes> = {},
  { yieldNow = yieldToEventLoop, vectors = vectorsOf(() => plainIndex()) }: UnsavedOptions = {},
) {
  const opened: { logId: string; index: Index; closed: number }[] = [];
  const discarded: string[] = [];
  const wiped: { logId: string; sequences: readonly number[] }[] = [];
  const onTrouble = (error: unknown) => {
    throw error;
  };
  const of = openIndexes({ vectors, folder: "/nowhere", clock: { yield: yieldNow }, onTrouble });
  const indexes: Indexes = {
    open: (logId) => {
      const text = new TextIndex({ yieldNow, onTrouble });
      const index = new LogIndex({ vectors: vectors.open(logId), text });
      const listed = { logId, index, closed: 0 };
      const close = index.close.bind(index);
      index.close = async (how) => {
        listed.closed++;
        await close(how);
      };
      opened.push(listed);
      return index;
    },
    openUnsaved: (logId) => of.openUnsaved(logId),
    discard: async (logId) => {
      discarded.push(logId);
      await vectors.discard(logId);
    },
    wipe: async (logId, sequences) => {
      wiped.push({ logId, sequences });
      const open = opened.findLast((each) => each.logId === logId && each.closed === 0);
      await (open === undefined ? vectors.wipe(logId, sequences) : open.index.remove(sequences));
    },
    holds: (logId, sequences) => vectors.holds(logId, sequences),
    stored: () => vectors.stored(),
    marksOf: async (logId) => {
      const mark = await vectors.markOf(logId);
      return mark === undefined ? [] : [mark];
    },
    measureFiles: (logId) => of.measureFiles(logId),
    measureRecall: (logId) => vectors.measureRecall(logId),
    searchWords: (searched, query) => of.searchWords(searched, query),
    scoreWords: (searched, query, sequences) => of.scoreWords(searched, query, sequences),
    sample: (searched) => of.sample(searched),
    select: (searched, by) => of.select(searched, by),
    inEventOrder: (searched, among, order) => of.inEventOrder(searched, among, order),
    eventTimesOf: (searched, sequences) => of.eventTimesOf(searched, sequences),
    ...changes,
  };
  return { indexes, opened, discarded, wiped };
}
