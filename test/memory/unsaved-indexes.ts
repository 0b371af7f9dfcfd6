import { yieldToEventLoop } from "../../src/concurrency/yield-to-event-loop.js";
import { openIndexes } from "../../src/index/open.js";
import type { Index, Indexes } from "../../src/memory/ports/index.js";

/**
 * Makes indexes of words and fields without files. It lists those opened with their log.
 *
 * @param yieldNow lets other work run; where time is simulated, no turn of the event loop may pass
 */
export function unsavedIndexes(
  changes: Partial<Indexes> = {},
  yieldNow: () => Promise<void> = yieldToEventLoop,
) {
  const opened: { logId: string; index: Index; closed: number }[] = [];
  const discarded: string[] = [];
  const wiped: { logId: string; sequences: readonly number[] }[] = [];
  const indexes: Indexes = {
    ...openUnsaved(yieldNow),
    open: (logId) => {
      const index = indexes.openUnsaved();
      const listed = { logId, index, closed: 0 };
      const close = index.close.bind(index);
      index.close = async (how) => {
        listed.closed++;
        await close(how);
      };
      opened.push(listed);
      return index;
    },
    discard: async (logId) => void discarded.push(logId),
    wipe: async (logId, sequences) => void wiped.push({ logId, sequences }),
    holds: async () => [],
    stored: async () => [],
    marksOf: async () => [],
    measureFiles: async () => ({ upto: 0, files: 0, bytes: 0, rows: 0, removed: 0 }),
    ...changes,
  };
  return { indexes, opened, discarded, wiped };
}

function openUnsaved(
  yieldNow: () => Promise<void>,
): Omit<Indexes, "open" | "discard" | "wipe" | "holds" | "stored" | "marksOf" | "measureFiles"> {
  const indexes = openIndexes({
    folder: "/nowhere",
    clock: { yield: yieldNow },
    onTrouble: (error) => {
      throw error;
    },
  });
  return {
    openUnsaved: () => indexes.openUnsaved(),
    searchWords: (searched, query) => indexes.searchWords(searched, query),
    scoreWords: (searched, query, sequences) => indexes.scoreWords(searched, query, sequences),
    sample: (searched) => indexes.sample(searched),
    select: (searched, by) => indexes.select(searched, by),
    inEventOrder: (searched, among, order) => indexes.inEventOrder(searched, among, order),
    eventTimesOf: (searched, sequences) => indexes.eventTimesOf(searched, sequences),
  };
}
