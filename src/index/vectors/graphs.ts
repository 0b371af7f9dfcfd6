import type { Hit } from "../../memory/ports/index.js";
import type { Found } from "./distinct.js";
import type { Matches } from "./graph.js";
import { Pauses } from "./pauses.js";
import type { Segment } from "./segment.js";

/** Part of a graph's search, a third, within which it misses next to none, also of a query like no memory. */
const MARGIN = 3;
/** Standard deviations of the number of the nearest that a graph has, which differs by chance. */
const DEVIATIONS = 2;

/** Expansion of a search that finds a graph's share of the nearest, if chance alone decides where they lie. */
export function expansionForShare(nearest: number): number {
  return Math.ceil(MARGIN * (nearest + DEVIATIONS * Math.sqrt(nearest)));
}

/** Part of a segment that a search of several graphs needs. */
export type Searchable = Pick<Segment, "rows" | "vectors" | "expansionFor" | "collect">;

/** Similarity below which a segment may have vectors that a search of its graph has not found. */
export function frontierOf(segment: Searchable, { keys, distances }: Matches): number {
  if (keys.length >= segment.rows) return Number.NEGATIVE_INFINITY;
  // The last ones found do not count, because the graph may have missed others that are as near.
  const place = Math.floor(distances.length / MARGIN) - 1;
  return 1 - (distances[Math.max(0, place)] ?? 2);
}

/** A search of several graphs. */
export interface GraphSearch<S extends Searchable> {
  readonly vector: Float32Array;
  /** Number of vectors to find. */
  readonly count: number;
  /** Expansion of a search of each graph at least. */
  readonly expansion: number;
  readonly segments: readonly S[];
  searchIn(segment: S, asked: { vector: Float32Array; count: number }): Promise<Matches>;
}

/**
 * Finds at least the `count` nearest vectors of all segments, or all, in no particular order. The graphs are
 * searched for their share of them first, and then those again that may have more than that: memories of one topic
 * are often stored together.
 */
export async function searchGraphs<S extends Searchable>(search: GraphSearch<S>): Promise<Found> {
  const { segments, count } = search;
  const share = expansionForShare(count / Math.max(1, segments.length));
  const expansion = Math.max(search.expansion, Math.min(count, share));
  const found: FoundIn<S> = new Map();
  await searchEach(search, { segments, expansion, found });
  const first = collect(found, count);
  const more = expansion < count ? withMore(found, similarityOf(first, count)) : [];
  if (more.length === 0) return { hits: first, all: isAll(found, count) };
  await searchEach(search, { segments: more, expansion: count, found });
  return { hits: collect(found, count), all: isAll(found, count) };
}

async function searchEach<S extends Searchable>(
  { vector, searchIn }: GraphSearch<S>,
  { segments, expansion, found }: { segments: readonly S[]; expansion: number; found: FoundIn<S> },
): Promise<void> {
  const pauses = new Pauses();
  for (const segment of segments) {
    found.set(segment, await searchIn(segment, { vector, count: segment.expansionFor(expansion) }));
    await pauses.ifDue();
  }
}

type FoundIn<S extends Searchable> = Map<S, Matches>;

function collect<S extends Searchable>(found: FoundIn<S>, count: number): Hit[] {
  const hits: Hit[] = [];
  for (const [segment, matches] of found) segment.collect(matches, count, hits);
  return hits;
}

/** Returns the similarity of the `count`th hit; less than any if there are fewer. */
function similarityOf(hits: readonly Hit[], count: number): number {
  const sorted = Float64Array.from(hits, ({ similarity }) => similarity).sort();
  return sorted[sorted.length - count] ?? Number.NEGATIVE_INFINITY;
}

/** Lists the segments that may have vectors nearer than this which were not found. */
function withMore<S extends Searchable>(found: FoundIn<S>, similarity: number): S[] {
  return [...found.keys()].filter((segment) => {
    return frontierOf(segment, found.get(segment) as Matches) > similarity;
  });
}

/** True if everything was found and collected. */
function isAll<S extends Searchable>(found: FoundIn<S>, count: number): boolean {
  return [...found].every(([segment, { keys }]) => {
    return segment.vectors <= count && keys.length >= segment.rows;
  });
}
