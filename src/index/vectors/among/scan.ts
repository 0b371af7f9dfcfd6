import { exactSearch, MetricKind } from "usearch";
import type { Hit } from "../../../memory/ports/index.js";
import { cosine, lengthOf } from "../cosine.js";
import { gather } from "../gather.js";
import type { Matches } from "../graph.js";
import { NearestFew } from "../nearest-few.js";
import { Pauses } from "../pauses.js";
import { placesOf } from "../places.js";
import { quantize } from "../quantize.js";
import type { CompactRows, Segment } from "../segment.js";
import { readRowsAt } from "../segment-rows.js";

/** Number of vectors gathered and compared at a time: less than a millisecond. */
const GATHERED = 4_096;

/** Memories to compare in a segment, by their numbers in order. */
export interface Scanned {
  readonly segment: Segment;
  readonly sequences: Float64Array;
}

export interface Scan {
  readonly vector: Float32Array;
  /** Number of the nearest vectors to find. */
  readonly count: number;
  rowsOf(segment: Segment): Promise<CompactRows>;
}

/** A vector in one of the scanned segments, by its place among the keys. */
interface RowPlace {
  readonly at: number;
  readonly place: number;
}

/**
 * Compares a vector with those of some memories, in their compact form first. The nearest are compared again
 * with the vectors of the segments' files.
 */
export async function scan(all: readonly Scanned[], { vector, count, rowsOf }: Scan): Promise<Hit[]> {
  const nearest = new NearestFew<RowPlace>(count);
  const compacts: (CompactRows | undefined)[] = [];
  const query = quantize(vector).numbers;
  for (const [at, { segment, sequences }] of all.entries()) {
    if (sequences.length === 0) continue;
    const rows = await rowsOf(segment);
    compacts[at] = rows;
    await compareAll(rows, { query, sequences, count }, (place, similarity) => {
      nearest.offer({ at, place }, similarity);
    });
  }
  const best = nearest.results().map(({ item }) => item);
  return all.flatMap(({ segment }, i) => {
    const [rows, places] = [compacts[i], best.filter(({ at }) => at === i)];
    return rows === undefined ? [] : exactly(rows, { segment, vector, places });
  });
}

/** Compares a vector with some of a segment's file, without those of removed memories. */
function exactly(
  { keys, slots }: CompactRows,
  { segment, vector, places }: { segment: Segment; vector: Float32Array; places: readonly RowPlace[] },
): Hit[] {
  const wanted = Uint32Array.from(places, ({ place }) => slots[place] as number);
  const vectors = readRowsAt(segment.path, wanted, vector.length);
  const length = lengthOf(vector);
  const matches = {
    keys: BigUint64Array.from(places, ({ place }) => BigInt(keys[place] as number)),
    distances: Float32Array.from(places, (_, i) => 1 - cosine(vector, vectors, i * vector.length) / length),
  };
  const hits: Hit[] = [];
  segment.collect(matches, places.length, hits);
  return hits;
}

async function compareAll(
  { keys, rows }: CompactRows,
  { query, sequences, count }: { query: Int8Array; sequences: Float64Array; count: number },
  offer: (place: number, similarity: number) => void,
): Promise<void> {
  const places = placesOf(keys, sequences);
  const pauses = new Pauses();
  for (let from = 0; from < places.length; from += GATHERED) {
    const some = places.subarray(from, from + GATHERED);
    const found = compare(query, gather(rows, some, query.length), count);
    for (const [i, at] of found.keys.entries()) {
      offer(some[Number(at)] as number, 1 - (found.distances[i] as number));
    }
    await pauses.ifDue();
  }
}

function compare(query: Int8Array, rows: Int8Array, count: number): Matches {
  const wanted = Math.min(count, rows.length / query.length);
  return exactSearch(rows, query, query.length, wanted, MetricKind.Cos, 1) as Matches;
}
