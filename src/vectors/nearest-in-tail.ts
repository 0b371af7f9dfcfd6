import { exactSearch, MetricKind } from "usearch";
import type { Among, Hit } from "../memory/ports/vectors.js";
import type { Chunk } from "./chunk.js";
import { gather } from "./gather.js";
import type { Matches } from "./graph.js";
import { NearestFew } from "./nearest-few.js";
import { Pauses } from "./pauses.js";
import { type Quantized, quantize } from "./quantize.js";
import { VECTORS_MAX } from "./snapshot/keys.js";

/** Bound of the error of a similarity found here, which is computed in float32. */
export const EXACT_ERROR = 1e-5;
/** Bound of the error of a cosine that is computed from an exact product of int8 vectors. */
const ROUNDING_ERROR = 1e-6;
/** Number of candidates of a chunk for `count` wanted ones: most often they suffice. */
const candidatesFor = (count: number) => 2 * count + 64;
/** Multiple of that number below which all are compared exactly at once. */
const FEW = 2;
/** Number of vectors gathered as float32 at a time. */
const GATHERED = 1024;

interface Asked {
  readonly vector: Float32Array;
  /** Number of vectors to find. */
  readonly count: number;
  /** The memories that may be found; all when left out. */
  readonly among?: Among | undefined;
}

/** A query, and the nearest rows found up to now by their keys. */
interface Search {
  readonly vector: Float32Array;
  readonly quantized: Quantized;
  readonly nearest: NearestFew<number>;
}

/** The compared rows of a chunk: all, or those of some memories. */
interface Compared {
  readonly chunk: Chunk;
  readonly rows?: Uint32Array | undefined;
}

/**
 * Finds the `count` nearest vectors in chunks, or all, the nearest first. None is missed: all are compared as int8,
 * and each that may be among the nearest in spite of the rounding is compared as float32.
 */
export async function nearestInTail(
  chunks: readonly Chunk[],
  { vector, count, among }: Asked,
): Promise<Hit[]> {
  const search = { vector, quantized: quantize(vector), nearest: new NearestFew<number>(count) };
  const pauses = new Pauses();
  for (const chunk of chunks) {
    // Rows move when others are removed, so nothing waits within a chunk.
    searchChunk({ chunk, rows: among && rowsAmong(chunk, among) }, search);
    await pauses.ifDue();
  }
  return search.nearest.kept().map(({ item: key, similarity }) => {
    const window = key % VECTORS_MAX;
    return { sequence: (key - window) / VECTORS_MAX, window, similarity };
  });
}

function rowsAmong(chunk: Chunk, among: Among): Uint32Array | undefined {
  const { range } = chunk;
  if (range === undefined) return undefined;
  const rows = chunk.rowsOf(among.between(range.first, range.last));
  return rows.length === chunk.rows ? undefined : rows;
}

function searchChunk(compared: Compared, search: Search): void {
  const { chunk, rows } = compared;
  const many = rows?.length ?? chunk.rows;
  if (many === 0) return;
  const asked = candidatesFor(search.nearest.count);
  const candidates = many > FEW * asked ? candidatesIn(compared, { search, asked }) : undefined;
  if (candidates !== undefined) compareSome({ chunk, rows: candidates }, search);
  else if (rows !== undefined) compareSome({ chunk, rows }, search);
  else compareAll(chunk, search);
}

/** Lists the rows that may be among the nearest; undefined if these may be more than asked for. */
function candidatesIn(
  { chunk, rows }: Compared,
  { search, asked }: { search: Search; asked: number },
): Uint32Array | undefined {
  const { quantized, nearest } = search;
  const all =
    rows === undefined
      ? chunk.quantized.subarray(0, chunk.rows * chunk.dimensions)
      : gather(chunk.quantized, rows, chunk.dimensions);
  const { keys, distances } = compare(all, quantized.numbers, { count: asked, metric: MetricKind.IP });
  const productOf = (place: number) => 1 - (distances[place] as number);
  const bounds = new Bounds(quantized, chunk);
  // So many are at least as near as this, here or in the chunks before.
  const known = Math.max(nearest.least - EXACT_ERROR, bounds.lowestCosine(productOf(nearest.count - 1)));
  const needed = bounds.lowestProduct(known);
  if (productOf(asked - 1) >= needed) return undefined;
  let count = 0;
  while (count < asked && productOf(count) >= needed) count++;
  return Uint32Array.from(keys.subarray(0, count), (place) => rows?.[Number(place)] ?? Number(place));
}

/** What the products of a chunk's quantised vectors and a query's tell about the cosines of the exact ones. */
class Bounds {
  readonly #angle: number;
  readonly #shortest: number;
  readonly #longest: number;

  constructor(query: Quantized, { angle, shortest, longest }: Chunk) {
    this.#angle = query.angle + angle;
    this.#shortest = query.length * Math.min(shortest, longest);
    this.#longest = query.length * longest;
  }

  lowestCosine(product: number): number {
    const cosine = product / (product > 0 ? this.#longest : this.#shortest);
    return Math.cos(Math.min(Math.PI, angleOf(cosine - ROUNDING_ERROR) + this.#angle));
  }

  /** Lowest product that two vectors may have whose cosine is at least this. */
  lowestProduct(cosine: number): number {
    const quantized = Math.cos(Math.min(Math.PI, angleOf(cosine) + this.#angle)) - ROUNDING_ERROR;
    return quantized * (quantized > 0 ? this.#shortest : this.#longest);
  }
}

function angleOf(cosine: number): number {
  return Math.acos(Math.max(-1, Math.min(1, cosine)));
}

function compareSome(
  { chunk, rows }: { chunk: Chunk; rows: Uint32Array },
  { vector, nearest }: Search,
): void {
  for (let from = 0; from < rows.length; from += GATHERED) {
    const some = rows.subarray(from, from + GATHERED);
    const { keys, distances } = compare(gather(chunk.vectors, some, chunk.dimensions), vector, nearest);
    for (const [i, place] of keys.entries()) {
      nearest.offer(chunk.keys[some[Number(place)] as number] as number, 1 - (distances[i] as number));
    }
  }
}

function compareAll(chunk: Chunk, { vector, nearest }: Search): void {
  const all = chunk.vectors.subarray(0, chunk.rows * chunk.dimensions);
  const { keys, distances } = compare(all, vector, nearest);
  for (const [i, row] of keys.entries()) {
    nearest.offer(chunk.keys[Number(row)] as number, 1 - (distances[i] as number));
  }
}

/** Compares a vector with others, end to end; all must begin where their buffers do: USearch ignores an offset. */
function compare<T extends Float32Array | Int8Array>(
  all: T,
  vector: T,
  { count, metric = MetricKind.Cos }: { count: number; metric?: MetricKind },
): Matches {
  const wanted = Math.min(count, all.length / vector.length);
  return exactSearch(all, vector, vector.length, wanted, metric, 1) as Matches;
}
