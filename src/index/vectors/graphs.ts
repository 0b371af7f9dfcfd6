import { TimeSlice } from "../../concurrency/time-slices.js";
import type { Among, Hit } from "../../memory/ports/index.js";
import { Best } from "../rows/best.js";
import { lowerBound } from "../rows/lower-bound.js";
import { compare, compareTied, gather } from "./compare.js";
import { CHECKED, EXPANSION_HERE_MAX } from "./expansion-tuner.js";
import { vectorsAt } from "./graph-file.js";
import type { GraphSegment } from "./graph-segment.js";
import { keyOf, parseKey, positionsOf } from "./keys.js";
import { quantize } from "./quantize.js";

/** A search of a graph misses next to none among the nearest third of what it finds, also of a query like no memory. */
const MARGIN = 3;
/** Standard deviations of the number of the nearest that a graph has, which differs by chance. */
const DEVIATIONS = 2;
/** Number of vectors that are compared rather than searched in the graphs: it takes about 8 ms, and misses none. */
const SCAN_MAX = 16_384;
/** Number of vectors that are compared rather than searched in the graphs a second time in a thread. */
const SCAN_LATER_MAX = 131_072;
/** Time of a position in a graph's search, divided by that of comparing one vector that lies apart from others. Measured. */
const POSITION_COST = 6;
/** Share of a segment's vectors from which on comparing all is quicker than gathering some. Measured. */
const WHOLE_SHARE = 0.2;
/** Number of vectors to find in a whole segment up to which that takes little longer. */
const WHOLE_COUNT_MAX = 4_096;
/** Multiple of the number that finds enough if those that may be found are like all others, and some for chance. */
const WHOLE_TIMES = 1.5;
const WHOLE_MORE = 64;
/**
 * Expansion of a search of one graph at least with a filter. It is more than without, because no check of served queries
 * widens these searches, and a query like no memory needs more.
 */
const EXPANSION_LEAST = 800;
/** Exponent of the number of graphs by which the least expansion is divided: each of several has fewer of the nearest. Measured. */
const SHARED = 2 / 3;
/** Multiple of the planned expansion after which a search of the graphs is given up. */
const PATIENCE = 3;

/** Number of vectors gathered and compared at a time: less than a millisecond. */
const GATHERED = 4_096;

/** Found vectors, the nearest first. */
export interface Found {
  readonly hits: readonly Hit[];
  /** True if there are no others. */
  readonly all: boolean;
}

/** Part of a segment that a search of several graphs needs. */
export type Searchable = Pick<GraphSegment, "rows" | "vectors" | "expansionsFor" | "collect" | "search">;

/** A search of several graphs. */
export interface GraphSearch {
  readonly vector: Float32Array;
  /** Number of memories to find, and of vectors. */
  readonly limit: number;
  readonly count: number;
  /** Expansion of a search of each graph at least, to find as many as a check compares. */
  readonly expansion: number;
  readonly segments: readonly Searchable[];
}

/** A search that compares vectors. */
export interface SegmentSearch extends GraphSearch {
  readonly segments: readonly GraphSegment[];
}

export interface FilteredSearch extends SegmentSearch {
  readonly among: Among;
  /** True if the segments' vectors are so few that all may be compared. */
  readonly isSmall: boolean;
  /** The `count` nearest of the tail that may be found. */
  readonly tail: readonly Hit[];
}

/** A graph, how broadly it is searched next, and what was found in it so far. */
interface GraphProgress {
  readonly segment: Searchable;
  expansion: number;
  hits: Hit[];
  /** Similarity below which it may have vectors that are not found yet; negative infinity if it has no others. */
  frontier: number;
}

/**
 * Finds at least the `count` nearest vectors of all segments, or all, in no particular order. The graphs are
 * searched for their share of them first, and then those again that may have more than that: memories of one topic
 * are often stored together.
 */
export async function searchGraphs(search: GraphSearch): Promise<Found> {
  const { segments, vector, limit, count } = search;
  const forShareOf = (nearest: number) => expansionForShare(nearest / Math.max(1, segments.length));
  const deeper = Math.max(0, forShareOf(limit) - forShareOf(CHECKED));
  const expansion = Math.max(search.expansion + deeper, Math.min(count, forShareOf(count)));
  const graphs = segments.map((segment) => unsearched(segment, expansion));
  await searchEach(graphs, { vector, count });
  if (expansion < count) {
    const similarities = Float64Array.from(hitsOf(graphs), ({ similarity }) => similarity).sort();
    const more = incompleteOf(graphs, similarities[similarities.length - count]);
    for (const each of more) each.expansion = count;
    await searchEach(more, { vector, count });
  }
  const all = graphs.every(
    ({ segment, frontier }) => segment.vectors <= count && frontier === Number.NEGATIVE_INFINITY,
  );
  return { hits: hitsOf(graphs), all };
}

/**
 * Finds the `count` nearest vectors of all segments by comparing all, which misses none; undefined if the graphs are to
 * be searched, because the vectors are still to be read into memory, which this begins, or too many are wanted or removed.
 */
export async function compareAll(search: SegmentSearch): Promise<readonly Hit[] | undefined> {
  const { segments, vector, count } = search;
  const read = segments.map(({ compactNow }) => compactNow);
  const nearest = new Best(count);
  const query = quantize(vector).numbers;
  const timeSlice = new TimeSlice();
  for (const [i, segment] of segments.entries()) {
    const compact = read[i];
    if (compact === undefined) return undefined;
    const isVisible = (sequence: number) => !segment.gone.has(sequence);
    const offer = (asked: number) =>
      offerNearest(nearest, segment, { compact, query, count, asked, isVisible });
    if (!segment.expansionsFor(count).some(offer)) return undefined;
    await timeSlice.endIfOver();
  }
  return exactlyIn(segments, vector, nearest);
}

/**
 * Finds the nearest vectors of some memories, in the tail and in segments. If these are few, each is compared. If they
 * are many, the nearest of all are searched in the graphs, ever more of them, until enough may be found.
 */
export async function searchFiltered(search: FilteredSearch): Promise<Found> {
  const { segments, vector, count, among, tail, isSmall } = search;
  const many = segments.reduce((sum, { range }) => sum + among.countBetween(range.after + 1, range.upto), 0);
  if (many > SCAN_MAX && !isSmall) {
    const graphs = planOf(search, many);
    if (expansionsOf(graphs) * POSITION_COST < many) {
      const found = await searchMore(search, { graphs, many });
      if (found !== undefined) return { hits: found, all: found.length < count };
    }
  }
  const nearest = await scan(search);
  // Counted with memories that were removed meanwhile, because these may have kept others out.
  const all = tail.length + nearest.size < count;
  return { hits: [...tail, ...exactlyIn(segments, vector, nearest)], all };
}

/** Plans a search of the graphs that finds enough if those that may be found are like all others. */
function planOf({ segments, limit, expansion }: FilteredSearch, many: number): GraphProgress[] {
  const least = Math.min(EXPANSION_HERE_MAX, Math.round(EXPANSION_LEAST / segments.length ** SHARED));
  return segments.map((segment) => {
    const nearest = (limit * segment.vectors) / many;
    const planned = Math.max(expansion, least, expansionForShare(nearest));
    return unsearched(segment, Math.min(segment.vectors, planned));
  });
}

/** Searches the graphs until what they have not found is farther; undefined if that takes too long. */
async function searchMore(
  { vector, among, limit, tail }: FilteredSearch,
  { graphs, many }: { readonly graphs: readonly GraphProgress[]; readonly many: number },
): Promise<Hit[] | undefined> {
  let budget = PATIENCE * expansionsOf(graphs);
  for (let open = graphs; ; ) {
    budget -= expansionsOf(open);
    if (budget < 0) return undefined;
    await searchEach(open, { vector, among });
    const hits = [...tail, ...hitsOf(graphs)];
    open = incompleteOf(graphs, similarityOfLast(hits, limit));
    if (open.length === 0) return hits;
    for (const each of open) each.expansion *= 2;
    const isBroad = open.some(({ expansion }) => expansion > EXPANSION_HERE_MAX);
    if (isBroad && many <= SCAN_LATER_MAX) return undefined;
  }
}

/** Searches graphs for the vectors nearest to one: `count` of each, or all that are found, of some memories or all. */
async function searchEach(
  graphs: readonly GraphProgress[],
  {
    vector,
    count = Number.POSITIVE_INFINITY,
    among,
  }: { vector: Float32Array; count?: number; among?: Among },
): Promise<void> {
  const timeSlice = new TimeSlice();
  for (const each of graphs) {
    const { segment, expansion } = each;
    for (const asked of segment.expansionsFor(expansion)) {
      const matches = await segment.search(vector, asked);
      const found: Hit[] = [];
      segment.collect(matches, count, found);
      each.hits = among === undefined ? found : found.filter(({ sequence }) => among.has(sequence));
      const { keys, distances } = matches;
      // The last ones found do not count, because the graph may have missed others that are as near.
      const position = Math.max(0, Math.floor(distances.length / MARGIN) - 1);
      each.frontier = keys.length >= segment.rows ? Number.NEGATIVE_INFINITY : 1 - (distances[position] ?? 2);
      if (among !== undefined || found.length >= Math.min(expansion, count, segment.vectors)) break;
    }
    await timeSlice.endIfOver();
  }
}

function unsearched(segment: Searchable, expansion: number): GraphProgress {
  return { segment, expansion, hits: [], frontier: Number.POSITIVE_INFINITY };
}

/** Those of the graphs that may have vectors which are nearer than this and were not found. */
function incompleteOf(graphs: readonly GraphProgress[], similarity = Number.NEGATIVE_INFINITY) {
  return graphs.filter(({ frontier }) => frontier > similarity);
}

function hitsOf(graphs: readonly GraphProgress[]): Hit[] {
  return ([] as Hit[]).concat(...graphs.map(({ hits }) => hits));
}

function expansionsOf(graphs: readonly GraphProgress[]): number {
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

/** Finds the nearest of some memories in segments, by comparing their vectors in their compact form. */
async function scan({ segments, vector, among, count, isSmall }: FilteredSearch): Promise<Best> {
  const nearest = new Best(count);
  const query = quantize(vector).numbers;
  const timeSlice = new TimeSlice();
  const isVisible = (sequence: number) => among.has(sequence);
  for (const segment of segments) {
    const { range, arrays } = segment;
    const own = among.countBetween(range.after + 1, range.upto);
    if (own === 0) continue;
    segment.isScanned = true;
    const compact = await segment.compactRows();
    const asked = Math.ceil((WHOLE_TIMES * count * segment.size) / own) + WHOLE_MORE;
    const isMany = isSmall && own >= WHOLE_SHARE * segment.size;
    if (isMany && offerNearest(nearest, segment, { compact, query, count, asked, isVisible })) {
      await timeSlice.endIfOver();
      continue;
    }
    const positions = positionsOf(arrays.keys, among.between(range.after + 1, range.upto));
    for (let from = 0; from < positions.length; from += GATHERED) {
      const some = positions.subarray(from, from + GATHERED);
      const found = compareTied(gather(compact, some, query.length), query, count);
      for (const [i, at] of found.keys.entries()) {
        nearest.offer(arrays.keys[some[Number(at)] as number] as number, 1 - (found.distances[i] as number));
      }
      await timeSlice.endIfOver();
    }
  }
  return nearest;
}

/** A search among all vectors of a segment in their compact form. */
interface WholeSearch {
  readonly compact: Int8Array;
  readonly query: Int8Array;
  readonly count: number;
  /** Number of the nearest of all vectors among which the `count` nearest are taken. */
  readonly asked: number;
  isVisible(sequence: number): boolean;
}

/** Offers the `count` nearest visible rows of a segment; false if too few of them are among the nearest of all. */
function offerNearest(nearest: Best, { arrays }: GraphSegment, search: WholeSearch): boolean {
  const { compact, query, count, asked, isVisible } = search;
  if (asked > WHOLE_COUNT_MAX) return false;
  const { keys: positions, distances } = compareTied(compact, query, asked);
  const keyAt = (i: number) => arrays.keys[Number(positions[i])] as number;
  const visible: number[] = [];
  let last = Number.POSITIVE_INFINITY;
  for (let i = 0; i < positions.length && (distances[i] as number) <= last; i++) {
    if (!isVisible(parseKey(keyAt(i)).sequence)) continue;
    if (visible.push(i) === count) last = distances[i] as number;
  }
  if (visible.length < count && positions.length < arrays.keys.length) return false;
  for (const i of visible) nearest.offer(keyAt(i), 1 - (distances[i] as number));
  return true;
}

/** Compares a vector with the nearest that were found as they are in the segments' files. */
function exactlyIn(segments: readonly GraphSegment[], vector: Float32Array, nearest: Best): Hit[] {
  const best = Float64Array.from(nearest.sorted(), ({ number }) => number);
  return segments.flatMap((segment) => exactly(segment, vector, best));
}

/** Compares a vector with those of some keys that are in a segment's file, without those of removed memories. */
function exactly(segment: GraphSegment, vector: Float32Array, keys: Float64Array): Hit[] {
  const { path, range, arrays } = segment;
  const [first, end] = [keyOf(range.after + 1, 0), keyOf(range.upto + 1, 0)];
  const own = keys.filter((key) => key >= first && key < end);
  if (own.length === 0) return [];
  const slots = Uint32Array.from(own, (key) => arrays.slots[lowerBound(arrays.keys, key)] as number);
  const found = compare(vectorsAt(path, slots, vector.length), vector, { count: own.length });
  const hits: Hit[] = [];
  const matches = {
    keys: Array.from(found.keys, (at) => own[Number(at)] as number),
    distances: found.distances,
  };
  segment.collect(matches, own.length, hits);
  return hits;
}
