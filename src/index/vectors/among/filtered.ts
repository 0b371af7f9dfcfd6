import type { Among } from "../../../memory/ports/among.js";
import type { Hit } from "../../../memory/ports/index.js";
import { EXPANSION_HERE_MAX } from "../expansion-tuner.js";
import type { Matches } from "../graph.js";
import { expansionForShare, frontierOf } from "../graphs.js";
import { Pauses } from "../pauses.js";
import type { CompactRows, Segment } from "../segment.js";
import { scan } from "./scan.js";

/** Number of vectors that are compared rather than searched in the graphs: it takes about 8 ms, and misses none. */
const SCAN_MAX = 16_384;
/** Number of vectors that are compared rather than searched in the graphs a second time in a thread. */
const SCAN_LATER_MAX = 131_072;
/** Time that a place in a graph's search takes, divided by that of comparing one vector. Measured. */
const PLACE_COST = 6;
/**
 * Expansion of a search of one graph at least. It is more than without a filter, because no check of served queries
 * widens these searches, and a query like no memory needs more.
 */
const EXPANSION_LEAST = 800;
/** Power of the number of graphs by which it is divided among several: each has fewer of the nearest. Measured. */
const SHARED = 2 / 3;
/** Multiple of the planned expansion after which a search of the graphs is given up. */
const PATIENCE = 3;

export interface Filtered {
  readonly vector: Float32Array;
  readonly among: Among;
  /** Number of memories to find. */
  readonly limit: number;
  /** Number of vectors to find. */
  readonly count: number;
  readonly segments: readonly Segment[];
  /** The `count` nearest of the tail that may be found. */
  readonly tail: readonly Hit[];
  /** Expansion of a search of each graph without a filter. */
  readonly expansion: number;
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
  const many = segments.reduce((sum, segment) => sum + segment.countAmong(among), 0);
  if (many > SCAN_MAX) {
    const graphs = planOf(query, many);
    const places = graphs.reduce((sum, { expansion }) => sum + expansion, 0);
    const found = places * PLACE_COST < many ? await searchGraphs(by, { graphs, many }, query) : undefined;
    if (found !== undefined) return found;
  }
  const scanned = segments.map((segment) => ({ segment, sequences: segment.sequencesAmong(among) }));
  return [...tail, ...(await scan(scanned, { vector, count, rowsOf: by.compactRowsOf }))];
}

/** A graph that is searched, ever more broadly. */
interface Searched {
  readonly segment: Segment;
  expansion: number;
  hits: Hit[];
  /** Similarity below which it may have more that are not found yet. */
  frontier: number;
}

/** Plans a search of the graphs that finds enough if those that may be found are like all others. */
function planOf({ segments, limit, expansion }: Filtered, many: number): Searched[] {
  const least = Math.min(EXPANSION_HERE_MAX, Math.round(EXPANSION_LEAST / segments.length ** SHARED));
  return segments.map((segment) => {
    const nearest = (limit * segment.vectors) / many;
    const planned = Math.min(segment.vectors, Math.max(expansion, least, expansionForShare(nearest)));
    return { segment, expansion: planned, hits: [], frontier: Number.POSITIVE_INFINITY };
  });
}

/** Searches the graphs until what they have not found is farther; undefined if that takes too long. */
async function searchGraphs(
  by: FilteredBy,
  { graphs: all, many }: { readonly graphs: readonly Searched[]; readonly many: number },
  { vector, among, limit, tail }: Filtered,
): Promise<Hit[] | undefined> {
  const pauses = new Pauses();
  let budget = PATIENCE * all.reduce((sum, { expansion }) => sum + expansion, 0);
  for (let open = all; ; ) {
    for (const each of open) {
      budget -= each.expansion;
      if (budget < 0) return undefined;
      const matches = await by.searchIn(each.segment, {
        vector,
        count: each.segment.expansionFor(each.expansion),
      });
      note(each, { matches, among });
      await pauses.ifDue();
    }
    const hits = [...tail, ...all.flatMap(({ hits }) => hits)];
    const last = similarityOfLast(hits, limit);
    open = all.filter(({ frontier }) => frontier > last);
    if (open.length === 0) return hits;
    for (const each of open) each.expansion *= 2;
    const isBroad = open.some(({ expansion }) => expansion > EXPANSION_HERE_MAX);
    if (isBroad && many <= SCAN_LATER_MAX) return undefined;
  }
}

function note(searched: Searched, { matches, among }: { matches: Matches; among: Among }): void {
  const { segment } = searched;
  const found: Hit[] = [];
  segment.collect(matches, matches.keys.length, found);
  searched.hits = found.filter(({ sequence }) => among.has(sequence));
  searched.frontier = frontierOf(segment, matches);
}

/** Returns the similarity of the last of the `limit` nearest memories; less than any if there are fewer. */
function similarityOfLast(hits: readonly Hit[], limit: number): number {
  const memories = new Set<number>();
  for (const { sequence, similarity } of hits.toSorted((a, b) => b.similarity - a.similarity)) {
    memories.add(sequence);
    if (memories.size === limit) return similarity;
  }
  return Number.NEGATIVE_INFINITY;
}
