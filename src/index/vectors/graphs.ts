import type { Among, Hit } from "../../memory/ports/index.js";
import type { Found } from "./distinct.js";
import { EXPANSION_HERE_MAX } from "./expansion-tuner.js";
import { Pauses } from "./pauses.js";
import { scan } from "./scan.js";
import type { Segment } from "./segment.js";

/** Part of a graph's search, a third, within which it misses next to none, also of a query like no memory. */
const MARGIN = 3;
/** Standard deviations of the number of the nearest that a graph has, which differs by chance. */
const DEVIATIONS = 2;
/** Number of vectors that are compared rather than searched in the graphs: it takes about 8 ms, and misses none. */
const SCAN_MAX = 16_384;
/** Number of vectors that are compared rather than searched in the graphs a second time in a thread. */
const SCAN_LATER_MAX = 131_072;
/** Time that a place in a graph's search takes, divided by that of comparing one vector. Measured. */
const PLACE_COST = 6;
/**
 * Expansion of a search of one graph at least with a filter. It is more than without, because no check of served queries
 * widens these searches, and a query like no memory needs more.
 */
const EXPANSION_LEAST = 800;
/** Power of the number of graphs by which it is divided among several: each has fewer of the nearest. Measured. */
const SHARED = 2 / 3;
/** Multiple of the planned expansion after which a search of the graphs is given up. */
const PATIENCE = 3;

/** Part of a segment that a search of several graphs needs. */
export type Searchable = Pick<Segment, "rows" | "vectors" | "expansionFor" | "collect" | "search">;

/** A search of several graphs. */
export interface GraphSearch<S extends Searchable> {
  readonly vector: Float32Array;
  /** Number of vectors to find. */
  readonly count: number;
  /** Expansion of a search of each graph at least. */
  readonly expansion: number;
  readonly segments: readonly S[];
}

export interface FilteredSearch extends GraphSearch<Segment> {
  readonly among: Among;
  /** Number of memories to find. */
  readonly limit: number;
  /** The `count` nearest of the tail that may be found. */
  readonly tail: readonly Hit[];
}

/** A graph that is searched, ever more broadly. */
interface Searched<S extends Searchable> {
  readonly segment: S;
  expansion: number;
  hits: Hit[];
  /** Similarity below which it may have more that are not found yet; less than any if there are no more. */
  frontier: number;
}

/**
 * Finds at least the `count` nearest vectors of all segments, or all, in no particular order. The graphs are
 * searched for their share of them first, and then those again that may have more than that: memories of one topic
 * are often stored together.
 */
export async function searchGraphs<S extends Searchable>(search: GraphSearch<S>): Promise<Found> {
  const { segments, vector, count } = search;
  const share = expansionForShare(count / Math.max(1, segments.length));
  const expansion = Math.max(search.expansion, Math.min(count, share));
  const graphs = segments.map((segment) => searched(segment, expansion));
  await searchEach(graphs, { vector, count });
  if (expansion < count) {
    const similarities = Float64Array.from(hitsOf(graphs), ({ similarity }) => similarity).sort();
    const more = openIn(graphs, similarities[similarities.length - count]);
    for (const each of more) each.expansion = count;
    await searchEach(more, { vector, count });
  }
  const all = graphs.every(
    ({ segment, frontier }) => segment.vectors <= count && frontier === Number.NEGATIVE_INFINITY,
  );
  return { hits: hitsOf(graphs), all };
}

/**
 * Finds the nearest vectors of some memories, in the tail and in segments. If these are few, each is compared. If they
 * are many, the nearest of all are searched in the graphs, ever more of them, until enough may be found.
 */
export async function searchFiltered(search: FilteredSearch): Promise<Hit[]> {
  const { segments, among, tail } = search;
  const many = segments.reduce((sum, segment) => sum + segment.countAmong(among), 0);
  if (many > SCAN_MAX) {
    const graphs = planOf(search, many);
    if (expansionsOf(graphs) * PLACE_COST < many) {
      const found = await searchMore(search, { graphs, many });
      if (found !== undefined) return found;
    }
  }
  return [...tail, ...(await scan(segments, search))];
}

/** Plans a search of the graphs that finds enough if those that may be found are like all others. */
function planOf({ segments, limit, expansion }: FilteredSearch, many: number): Searched<Segment>[] {
  const least = Math.min(EXPANSION_HERE_MAX, Math.round(EXPANSION_LEAST / segments.length ** SHARED));
  return segments.map((segment) => {
    const nearest = (limit * segment.vectors) / many;
    const planned = Math.max(expansion, least, expansionForShare(nearest));
    return searched(segment, Math.min(segment.vectors, planned));
  });
}

/** Searches the graphs until what they have not found is farther; undefined if that takes too long. */
async function searchMore(
  { vector, among, limit, tail }: FilteredSearch,
  { graphs, many }: { readonly graphs: readonly Searched<Segment>[]; readonly many: number },
): Promise<Hit[] | undefined> {
  let budget = PATIENCE * expansionsOf(graphs);
  for (let open = graphs; ; ) {
    budget -= expansionsOf(open);
    if (budget < 0) return undefined;
    await searchEach(open, { vector, among });
    const hits = [...tail, ...hitsOf(graphs)];
    open = openIn(graphs, similarityOfLast(hits, limit));
    if (open.length === 0) return hits;
    for (const each of open) each.expansion *= 2;
    const isBroad = open.some(({ expansion }) => expansion > EXPANSION_HERE_MAX);
    if (isBroad && many <= SCAN_LATER_MAX) return undefined;
  }
}

/** Searches graphs for the vectors nearest to one: `count` of each, or all that are found, of some memories or all. */
async function searchEach<S extends Searchable>(
  graphs: readonly Searched<S>[],
  {
    vector,
    count = Number.POSITIVE_INFINITY,
    among,
  }: { vector: Float32Array; count?: number; among?: Among },
): Promise<void> {
  const pauses = new Pauses();
  for (const each of graphs) {
    const { segment, expansion } = each;
    const matches = await segment.search(vector, segment.expansionFor(expansion));
    const found: Hit[] = [];
    segment.collect(matches, count, found);
    each.hits = among === undefined ? found : found.filter(({ sequence }) => among.has(sequence));
    const { keys, distances } = matches;
    // The last ones found do not count, because the graph may have missed others that are as near.
    const place = Math.max(0, Math.floor(distances.length / MARGIN) - 1);
    each.frontier = keys.length >= segment.rows ? Number.NEGATIVE_INFINITY : 1 - (distances[place] ?? 2);
    await pauses.ifDue();
  }
}

function searched<S extends Searchable>(segment: S, expansion: number): Searched<S> {
  return { segment, expansion, hits: [], frontier: Number.POSITIVE_INFINITY };
}

/** Lists the graphs that may have vectors nearer than this which were not found. */
function openIn<S extends Searchable>(
  graphs: readonly Searched<S>[],
  similarity = Number.NEGATIVE_INFINITY,
): Searched<S>[] {
  return graphs.filter(({ frontier }) => frontier > similarity);
}

function hitsOf(graphs: readonly Searched<Searchable>[]): Hit[] {
  return ([] as Hit[]).concat(...graphs.map(({ hits }) => hits));
}

function expansionsOf(graphs: readonly Searched<Searchable>[]): number {
  return graphs.reduce((sum, { expansion }) => sum + expansion, 0);
}

/** Expansion of a search that finds a graph's share of the nearest, if chance alone decides where they lie. */
function expansionForShare(nearest: number): number {
  return Math.ceil(MARGIN * (nearest + DEVIATIONS * Math.sqrt(nearest)));
}

/** Returns the similarity of the last of the `limit` nearest memories; undefined if there are fewer. */
function similarityOfLast(hits: readonly Hit[], limit: number): number | undefined {
  const memories = new Set<number>();
  for (const { sequence, similarity } of hits.toSorted((a, b) => b.similarity - a.similarity)) {
    memories.add(sequence);
    if (memories.size === limit) return similarity;
  }
  return undefined;
}
