import { type Clock, systemClock } from "../../src/concurrency/clock.js";
import { LogFiles } from "../../src/index/log-files.js";
import { LogIndex } from "../../src/index/log-index.js";
import { openIndexes } from "../../src/index/open.js";
import type { Vectors } from "../../src/index/vectors/usearch.js";
import type { Index, Indexes } from "../../src/memory/ports/index.js";
import { plainIndex } from "./plain-index.js";

export interface UnsavedOptions {
  /** Lets other work run; where time is simulated, no iteration of the event loop may pass. */
  readonly clock?: Pick<Clock, "yield">;
  /** Their vectors; left out, they only remember. */
  readonly vectors?: Vectors;
}

/** Vectors of which each index is made by the test. */
export function vectorsOf(open: (logId: string) => ReturnType<typeof plainIndex>): Vectors {
  return {
    open,
    isWhole: async () => true,
  };
}

/** Makes indexes without files. It lists those opened with their log. */
export function unsavedIndexes(
  changes: Partial<Indexes> = {},
  { clock = systemClock, vectors = vectorsOf(() => plainIndex()) }: UnsavedOptions = {},
) {
  const opened: { logId: string; index: Index; closed: number }[] = [];
  const discarded: string[] = [];
  const wiped: { logId: string; sequences: readonly number[] }[] = [];
  const onTrouble = (error: unknown) => {
    throw error;
  };
  const inner = openIndexes({ vectors, folder: "/nowhere", clock, onTrouble });
  const indexes: Indexes = {
    open: (logId) => {
      const files = new LogFiles({ logId, onTrouble });
      const index = new LogIndex({ vectors: vectors.open(logId, files), files, clock, onTrouble });
      const listed = { logId, index, closed: 0 };
      const close = index.close.bind(index);
      index.close = async (how) => {
        listed.closed++;
        await close(how);
      };
      opened.push(listed);
      return index;
    },
    openUnsaved: (logId) => inner.openUnsaved(logId),
    discard: async (logId) => void discarded.push(logId),
    wipe: async (logId, sequences) => {
      wiped.push({ logId, sequences });
      const open = opened.findLast((each) => each.logId === logId && each.closed === 0);
      await open?.index.remove(sequences);
    },
    holds: async () => [],
    stored: async () => [],
    marksOf: async () => [],
    measureFiles: (logId) => inner.measureFiles(logId),
    countUnusable: (logId) => inner.countUnusable(logId),
    searchWords: (searched, query) => inner.searchWords(searched, query),
    scoreWords: (searched, query, sequences) => inner.scoreWords(searched, query, sequences),
    sample: (searched) => inner.sample(searched),
    select: (searched, by) => inner.select(searched, by),
    inEventOrder: (searched, among, order) => inner.inEventOrder(searched, among, order),
    eventTimesOf: (searched, sequences) => inner.eventTimesOf(searched, sequences),
    ...changes,
  };
  return { indexes, opened, discarded, wiped };
}
