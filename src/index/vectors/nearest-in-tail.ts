import { exactSearch, MetricKind } from "usearch";
import type { Among } from "../../memory/ports/among.js";
import type { Hit } from "../../memory/ports/index.js";
import type { Chunk } from "./chunk.js";
import { gather } from "./gather.js";
import type { Matches } from "./graph.js";
import { VECTORS_MAX } from "./keys.js";
import { NearestFew } from "./nearest-few.js";
import { Pauses } from "./pauses.js";
import { type Quantized, quantize } from "./quantize.js";

/** Bound of the error of a similarity found here, which is computed in float32. */
export const EXACT_ERROR = 1e-5;
/** Bound of the error of a cosine that is computed from an exact product of int8 vectors. */
const ROUNDING_ERROR = 1e-6;
/** Number of candidates of a chunk for `count` wanted ones: most often they suffice. */
const candidatesFor = (count: number) => 2 * count + 32;
/** Number of vectors of a chunk, and multiple of those candidates, up to which all are compared as float32 at once. */
const FEW = 1_200;
const FEW_TIMES = 2;
/** Number of vectors gathered as float32 at a time. */
const GATHERED = 1024;

interface Asked {
  readonly vector: Float32Array;
  /** Number of vectors to find. */
  readonly count: number;
  /** The memories that may be found; all when left out. */
  readonly among?: Among | undefined;
}

/**
 * Finds the `count` nearest vectors in chunks, or all, the nearest first. None is missed: all are compared as int8,
 * and each that may be among the nearest in spite of the rounding is compared as float32.
 */
export async function nearestInTail(chunks: readonly Chunk[], asked: Asked): Promise<Hit[]> {
  const search = new TailSearch(asked);
  const pauses = new Pauses();
  for (const chunk of chunks) {
    search.scan(chunk);
    await pauses.ifDue();
  }
  search.compareBest();
  for (const chunk of search.undecided()) {
    search.compareAll(chunk);
    await pauses.ifDue();
  }
  return search.hits();
}

/** Vectors of a chunk with the highest products of int8. */
interface Scanned {
  readonly chunk: Chunk;
  readonly bounds: Bounds;
  /** Keys, because rows move when others are removed. The highest product comes first. */
  readonly keys: Float64Array;
  readonly products: Float32Array;
}

interface Candidate {
  readonly chunk: Chunk;
  readonly key: number;
}

class TailSearch {
  readonly #query: Quantized;
  readonly #nearest: NearestFew<number>;
  readonly #scanned: Scanned[] = [];
  /** Keys of the vectors that were compared as float32 after a scan. */
  readonly #compared = new Set<number>();

  constructor(private readonly asked: Asked) {
    this.#query = quantize(asked.vector);
    this.#nearest = new NearestFew(asked.count);
  }

  /** Compares the vectors of a chunk as int8; few are compared as float32 at once. */
  scan(chunk: Chunk): void {
    const rows = this.#rowsIn(chunk);
    const many = rows?.length ?? chunk.rows;
    const wanted = candidatesFor(this.asked.count);
    if (many <= Math.max(FEW, FEW_TIMES * wanted)) {
      this.compareAll(chunk);
      return;
    }
    const { dimensions, quantized } = chunk;
    const all = rows ? gather(quantized, rows, dimensions) : quantized.subarray(0, many * dimensions);
    const found = compare(all, this.#query.numbers, { count: wanted, metric: MetricKind.IP });
    const keys = Float64Array.from(
      found.keys,
      (place) => chunk.keys[rows?.[Number(place)] ?? Number(place)] as number,
    );
    const products = found.distances.map((distance) => 1 - distance);
    this.#scanned.push({ chunk, bounds: new Bounds(this.#query, chunk), keys, products });
  }

  /** Compares those as float32 that are the nearest by the scan, and then each other that may be nearer. */
  compareBest(): void {
    const best = new NearestFew<Candidate>(this.asked.count);
    for (const { chunk, bounds, keys, products } of this.#scanned) {
      for (const [i, key] of keys.entries()) {
        const cosine = bounds.cosineOf(products[i] as number);
        if (cosine <= best.least) break;
        best.offer({ chunk, key }, cosine);
      }
    }
    this.#compareSome(best.results().map(({ item }) => item));
    this.#compareSome(this.#scanned.flatMap((scanned) => this.#others(scanned)));
  }

  /** Lists the chunks that may have more of the nearest than the scan has found. */
  undecided(): Chunk[] {
    const open = this.#scanned.filter(({ bounds, products }) => {
      return (products.at(-1) as number) >= bounds.lowestProduct(this.#known);
    });
    return open.map(({ chunk }) => chunk);
  }

  /** Compares all vectors of a chunk as float32. */
  compareAll(chunk: Chunk): void {
    const rows = this.#rowsIn(chunk);
    if (rows !== undefined) this.#compareRows(chunk, rows);
    else if (chunk.rows > 0) {
      const all = chunk.vectors.subarray(0, chunk.rows * chunk.dimensions);
      this.#offer(compare(all, this.asked.vector, this.asked), (row) => chunk.keys[row] as number);
    }
  }

  hits(): Hit[] {
    return this.#nearest.results().map(({ item: key, similarity }) => {
      const window = key % VECTORS_MAX;
      return { sequence: (key - window) / VECTORS_MAX, window, similarity };
    });
  }

  /** Cosine that the nearest vectors have at least, whatever is not compared yet. */
  get #known(): number {
    return this.#nearest.least - EXACT_ERROR;
  }

  /** Lists the rows that may be found; undefined if these are all. */
  #rowsIn(chunk: Chunk): Uint32Array | undefined {
    const { range } = chunk;
    if (this.asked.among === undefined || range === undefined) return undefined;
    const rows = chunk.rowsOf(this.asked.among.between(range.first, range.last));
    return rows.length === chunk.rows ? undefined : rows;
  }

  /** Lists the scanned vectors that may be among the nearest and were not compared yet. */
  #others({ chunk, bounds, keys, products }: Scanned): Candidate[] {
    const needed = bounds.lowestProduct(this.#known);
    const others: Candidate[] = [];
    for (const [i, key] of keys.entries()) {
      if ((products[i] as number) < needed) break;
      if (!this.#compared.has(key)) others.push({ chunk, key });
    }
    return others;
  }

  #compareSome(candidates: readonly Candidate[]): void {
    const { vector } = this.asked;
    const all = new Float32Array(candidates.length * vector.length);
    const found: number[] = [];
    for (const { chunk, key } of candidates) {
      const row = chunk.rowOf(key);
      // It was removed meanwhile.
      if (row === undefined) continue;
      const from = row * vector.length;
      all.set(
        chunk.vectors.subarray(from, from + vector.length),
        found.push(key) * vector.length - vector.length,
      );
    }
    if (found.length === 0) return;
    const compared = all.subarray(0, found.length * vector.length);
    this.#offer(compare(compared, vector, this.asked), (place) => found[place] as number);
    for (const key of found) this.#compared.add(key);
  }

  #compareRows(chunk: Chunk, rows: Uint32Array): void {
    for (let from = 0; from < rows.length; from += GATHERED) {
      const some = rows.subarray(from, from + GATHERED);
      const found = compare(gather(chunk.vectors, some, chunk.dimensions), this.asked.vector, this.asked);
      this.#offer(found, (place) => chunk.keys[some[place] as number] as number);
    }
  }

  #offer({ keys, distances }: Matches, keyAt: (place: number) => number): void {
    for (const [i, place] of keys.entries()) {
      const key = keyAt(Number(place));
      if (!this.#compared.has(key)) this.#nearest.offer(key, 1 - (distances[i] as number));
    }
  }
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

  /** Approximate cosine of two vectors. */
  cosineOf(product: number): number {
    return this.#longest === 0 ? 0 : product / this.#longest;
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

/** Compares a vector with others, end to end; all must begin where their buffers do: USearch ignores an offset. */
function compare<T extends Float32Array | Int8Array>(
  all: T,
  vector: T,
  { count, metric = MetricKind.Cos }: { count: number; metric?: MetricKind },
): Matches {
  const wanted = Math.min(count, all.length / vector.length);
  return exactSearch(all, vector, vector.length, wanted, metric, 1) as Matches;
}
