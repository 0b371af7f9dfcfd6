import type { Among, Hit } from "../../memory/ports/index.js";
import { Best } from "../rows/best.js";
import { lowerBound } from "../rows/lower-bound.js";
import { compare, gather } from "./compare.js";
import { vectorsAt } from "./graph-file.js";
import { keyOf, placesOf } from "./keys.js";
import { Pauses } from "./pauses.js";
import { quantize } from "./quantize.js";
import type { Segment } from "./segment.js";

/** Number of vectors gathered and compared at a time: less than a millisecond. */
const GATHERED = 4_096;

export interface Scan {
  readonly vector: Float32Array;
  /** The memories to compare. */
  readonly among: Among;
  /** Number of the nearest vectors to find. */
  readonly count: number;
}

/**
 * Compares a vector with those of some memories in segments, in their compact form first. The nearest are compared
 * again with the vectors of the segments' files.
 */
export async function scan(segments: readonly Segment[], { vector, among, count }: Scan): Promise<Hit[]> {
  const nearest = new Best(count);
  const query = quantize(vector).numbers;
  const pauses = new Pauses();
  for (const segment of segments) {
    const sequences = segment.sequencesAmong(among);
    if (sequences.length === 0) continue;
    const { keys } = segment.arrays;
    const rows = await segment.compactRows();
    const places = placesOf(keys, sequences);
    for (let from = 0; from < places.length; from += GATHERED) {
      const some = places.subarray(from, from + GATHERED);
      const found = compare(gather(rows, some, query.length), query, { count });
      for (const [i, at] of found.keys.entries()) {
        nearest.offer(keys[some[Number(at)] as number] as number, 1 - (found.distances[i] as number));
      }
      await pauses.ifDue();
    }
  }
  const best = Float64Array.from(nearest.sorted(), ({ number }) => number);
  return segments.flatMap((segment) => exactly(segment, vector, best));
}

/** Compares a vector with those of some keys that are in a segment's file, without those of removed memories. */
function exactly(segment: Segment, vector: Float32Array, keys: Float64Array): Hit[] {
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
