import type { VectorRow } from "../../src/index/vectors/chunk.js";
import type { VectorPart } from "../../src/index/vectors/usearch-index.js";
import type { Hit } from "../../src/memory/ports/index.js";

/** Bytes that a row counts as: so many that all else of a replica does not matter. */
export const PLAIN_ROW_BYTES = 100_000;

/** The vectors of an index that only remembers what it was told. A test may change all of it. */
export interface PlainIndex extends VectorPart {
  readonly rows: Map<number, VectorRow>;
  /** Answers the first memories that a search may find. */
  first(query: Parameters<VectorPart["search"]>[0]): Hit[];
  closed: number;
}

export function hit(sequence: number): Hit {
  return { sequence, window: 0, similarity: 1 };
}

export function plainIndex(changes: Partial<VectorPart> = {}): PlainIndex {
  const rows = new Map<number, VectorRow>();
  const index: PlainIndex = {
    rows,
    closed: 0,
    get size() {
      return rows.size;
    },
    get bytes() {
      return rows.size * PLAIN_ROW_BYTES;
    },
    get rowCounts() {
      return { tail: rows.size, removed: 0, backlog: 0 };
    },
    waiting: 0,
    copiedBytes: 0,
    releaseCopies: () => {},
    error: 1e-5,
    isExact: true,
    restore: async () => 0,
    reset: async () => rows.clear(),
    fits: () => true,
    add: async (added) => {
      for (const row of added) {
        if (rows.has(row.sequence)) throw new Error(`${row.sequence} was applied twice`);
        rows.set(row.sequence, row);
      }
    },
    remove: async (sequences) => {
      for (const sequence of sequences) rows.delete(sequence);
    },
    search: async (query) => index.first(query),
    first: ({ limit, among }) => {
      const numbers = [...rows.keys()].filter((sequence) => among?.has(sequence) ?? true);
      return numbers.slice(0, limit).map(hit);
    },
    close: async () => {
      index.closed++;
    },
  };
  return Object.defineProperties(index, Object.getOwnPropertyDescriptors(changes));
}
