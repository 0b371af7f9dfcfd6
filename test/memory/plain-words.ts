import type { Mark, Restored } from "../../src/memory/ports/vectors.js";
import type { WordIndex, Words } from "../../src/memory/ports/words.js";
import { Guarded } from "../../src/words/guarded.js";

/** A word index without files and threads. A test may change all of it. */
export interface PlainWordIndex extends WordIndex {
  /** Log numbers in the order of their adding. */
  readonly added: number[];
  closed: number;
}

export function plainWordIndex(changes: Partial<WordIndex> = {}): PlainWordIndex {
  let contents = new Guarded(() => Promise.resolve());
  const index: PlainWordIndex = {
    added: [],
    closed: 0,
    get size() {
      return contents.size;
    },
    get bytes() {
      return contents.bytes;
    },
    waiting: 0,
    large: false,
    onSnapshotLost: () => {},
    restore: async (): Promise<Restored | undefined> => undefined,
    reset: async () => {
      contents = new Guarded(() => Promise.resolve());
    },
    snapshot: async (_: Mark) => {},
    add: (rows) => {
      index.added.push(...rows.map(({ sequence }) => sequence));
      return contents.add(rows);
    },
    remove: (sequences) => contents.remove(sequences),
    search: (query) => contents.search(query),
    score: (query, sequences) => contents.score(query, sequences),
    sample: () => contents.sample(),
    close: async () => {
      index.closed++;
    },
  };
  return Object.defineProperties(index, Object.getOwnPropertyDescriptors(changes));
}

/** Makes word indexes without files. It lists those opened with their log. */
export function plainWords(change: (logId: string, nth: number) => Partial<WordIndex> = () => ({})) {
  const opened: { logId: string; index: PlainWordIndex }[] = [];
  const discarded: string[] = [];
  const wiped: { logId: string; sequences: readonly number[] }[] = [];
  const words: Words = {
    open: (logId) => {
      const nth = opened.filter((one) => one.logId === logId).length;
      const index = plainWordIndex(change(logId, nth));
      opened.push({ logId, index });
      return index;
    },
    discard: async (logId) => void discarded.push(logId),
    wipe: async (logId, sequences) => void wiped.push({ logId, sequences }),
    holds: async () => [],
    kept: async () => [],
    markOf: async () => undefined,
    close: async () => {},
  };
  return { words, opened, discarded, wiped };
}
