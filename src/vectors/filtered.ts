import type { Among, Hit } from "../memory/ports/vectors.js";
import type { CompactRows } from "./compact-rows.js";
import type { Matches } from "./graph.js";
import { scan } from "./scan.js";
import type { Segment } from "./segment.js";

/** Number of vectors that are compared rather than searched in the graphs: it takes about 5 ms, and misses none. */
const SCAN_MAX = 32_768;
/** Time that a place in a graph's search takes, divided by that of comparing one vector. Measured. */
const PLACE_COST = 20;
/** Share by which a search is broader than it must be: a graph is less sure of what it finds last. */
const MARGIN = 3;
/** Multiple of the breadth of a search without a filter, because one with a filter must miss less. */
const WIDER = 2;
/** Multiple of the estimated breadth after which a search of the graphs is given up. */
const PATIENCE = 3;

export interface Filtered {
  readonly vector: Float32Array;
  readonly among: Among;
  /** Number of memories to find. */
  readonly limit: number;
  /** Number of vectors to find. */
  readonly count: number;
  readonly segments: readonly Segment[];
  /** Hits of the tail, which are all of its memories that may be found. */
  readonly tail: readonly Hit[];
  /** Breadth of a search of each graph without a filter. */
  readonly breadth: number;
}

export interface FilteredBy {
  searchIn(segment: Segment, asked: { vector: Float32Array; count: number }): Promise<Matches>;
  compactRowsOf(segment: Segment): Promise<CompactRows>;
}

/**
 * Finds the nearest vectors of some memories in segments. If these are few, each is compared. If they are many,
 * the nearest of all are searched in the graphs, ever more of them, until enough may be found. Throws if a
 * segment's files are replaced meanwhile.
 */
export async function searchFiltered(by: FilteredBy, query: Filtered): Promise<Hit[]> {
  const { segments, among, vector, count, tail } = query;
  const matching = segments.map((segment) => segment.sequencesAmong(among));
  const many = matching.reduce((sum, sequences) => sum + sequences.length, 0);
  if (many > SCAN_MAX) {
    const graphs = planOf(query, many);
    const places = graphs.reduce((sum, { breadth }) => sum + breadth, 0);
    const found = places * PLACE_COST < many ? await searchGraphs(by, graphs, query) : undefined;
    if (found !== undefined) return found;
  }
  const scanned = segments.map((segment, i) => ({ segment, sequences: matching[i] as Float64Array }));
  return [...tail, ...(await scan(scanned, { vector, count, rowsOf: by.compactRowsOf }))];
}

/** A graph that is searched, ever more broadly. */
interface Searched {
  readonly segment: Segment;
  breadth: number;
  hits: Hit[];
  /** Similarity below which it may have more that are not found yet. */
  frontier: number;
}

/** Plans a search of the graphs that finds enough if those that may be found are like all others. */
function planOf({ segments, limit, breadth }: Filtered, many: number): Searched[] {
  return segments.map((segment) => {
    const places = Math.ceil((MARGIN * limit * segment.vectors) / many);
    const planned = Math.min(segment.vectors, Math.max(WIDER * breadth, places));
    return { segment, breadth: planned, hits: [], frontier: Number.POSITIVE_INFINITY };
  });
}

/** Searches the graphs until what they have not found is farther; undefined if that takes too long. */
async function searchGraphs(
  by: FilteredBy,
  all: readonly Searched[],
  { vector, among, limit, tail }: Filtered,
): Promise<Hit[] | undefined> {
  let budget = PATIENCE * all.reduce((sum, { breadth }) => sum + breadth, 0);
  for (let open = all; ; ) {
    for (const each of open) {
      budget -= each.breadth;
      if (budget < 0) return undefined;
      const matches = await by.searchIn(each.segment, {
        vector,
        count: each.segment.breadthFor(each.breadth),
      });
      note(each, { matches, among });
    }
    const hits = [...tail, ...all.flatMap(({ hits }) => hits)];
    const last = similarityOfLast(hits, limit);
    open = all.filter(({ frontier }) => frontier > last);
    if (open.length === 0) return hits;
    for (const each of open) each.breadth *= 2;
  }
}

function note(searched: Searched, { matches, among }: { matches: Matches; among: Among }): void {
  const { segment } = searched;
  const found: Hit[] = [];
  segment.collect(matches, matches.keys.length, found);
  searched.hits = found.filter(({ sequence }) => among.has(sequence));
  const isAll = matches.keys.length >= segment.files.vectors;
  // The last ones found do not count, because the graph may have missed others that are as near.
  const place = Math.floor(matches.distances.length / MARGIN) - 1;
  searched.frontier = isAll ? Number.NEGATIVE_INFINITY : 1 - (matches.distances[Math.max(0, place)] ?? 2);
}

/** Answers the similarity of the last of the `limit` nearest memories; less than any if there are fewer. */
function similarityOfLast(hits: readonly Hit[], limit: number): number {
  const memories = new Set<number>();
  for (const { sequence, similarity } of hits.toSorted((a, b) => b.similarity - a.similarity)) {
    memories.add(sequence);
    if (memories.size === limit) return similarity;
  }
  return Number.NEGATIVE_INFINITY;
}
