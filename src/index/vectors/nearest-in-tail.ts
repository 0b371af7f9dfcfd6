import { MetricKind } from "usearch";
import type { Among } from "../../memory/ports/among.js";
import type { Hit } from "../../memory/ports/index.js";
import { Best } from "../rows/best.js";
import type { Chunk } from "./chunk.js";
import { compare, gather } from "./compare.js";
import type { Matches } from "./graph.js";
import { parseKey } from "./keys.js";
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

class TailSearch {
  readonly #query: Quantized;
  readonly #nearest: Best;
  readonly #scanned: Scanned[] = [];
  /** Keys of the vectors that were compared as float32 after a scan. */
  readonly #compared = new Set<number>();

  constructor(private readonly asked: Asked) {
    this.#query = quantize(asked.vector);
    this.#nearest = new Best(asked.count);
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
    const best = new Best(this.asked.count);
    for (const { bounds, keys, products } of this.#scanned) {
      for (const [i, key] of keys.entries()) {
        const cosine = bounds.cosineOf(products[i] as number);
        if (cosine < best.bar) break;
        best.offer(key, cosine);
      }
    }
    const nearest = new Set(best.sorted().map(({ number }) => number));
    this.#compareSome(this.#scanned.map(({ keys }) => keys.filter((key) => nearest.has(key))));
    const others = this.#scanned.map(({ bounds, keys, products }) => {
      const needed = bounds.lowestProduct(this.#known);
      return keys.filter((key, i) => (products[i] as number) >= needed && !nearest.has(key));
    });
    this.#compareSome(others);
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
    const { vector } = this.asked;
    const { keys, vectors, dimensions } = chunk;
    const rows = this.#rowsIn(chunk);
    if (rows === undefined) {
      const all = vectors.subarray(0, chunk.rows * dimensions);
      this.#offer(compare(all, vector, this.asked), (row) => keys[row] as number);
      return;
    }
    for (let from = 0; from < rows.length; from += GATHERED) {
      const some = rows.subarray(from, from + GATHERED);
      const found = compare(gather(vectors, some, dimensions), vector, this.asked);
      this.#offer(found, (place) => keys[some[place] as number] as number);
    }
  }

  hits(): Hit[] {
    return this.#nearest.sorted().map(({ number: key, score }) => {
      const { sequence, window } = parseKey(key);
      return { sequence, window, similarity: score };
    });
  }

  /** Cosine that the nearest vectors have at least, whatever is not compared yet. */
  get #known(): number {
    return this.#nearest.bar - EXACT_ERROR;
  }

  /** Lists the rows that may be found; undefined if these are all. */
  #rowsIn(chunk: Chunk): Uint32Array | undefined {
    const { range } = chunk;
    if (this.asked.among === undefined || range === undefined) return undefined;
    const rows = chunk.rowsOf(this.asked.among.between(range.first, range.last));
    return rows.length === chunk.rows ? undefined : rows;
  }

  /** Compares some vectors of each scanned chunk, by their keys, as float32. */
  #compareSome(keysIn: readonly Float64Array[]): void {
    const { vector } = this.asked;
    const all = new Float32Array(vector.length * keysIn.reduce((sum, { length }) => sum + length, 0));
    const found: number[] = [];
    for (const [i, { chunk }] of this.#scanned.entries()) {
      for (const key of keysIn[i] as Float64Array) {
        const row = chunk.rowOf(key);
        // It was removed meanwhile.
        if (row === undefined) continue;
        const own = chunk.vectors.subarray(row * vector.length, (row + 1) * vector.length);
        all.set(own, found.length * vector.length);
        found.push(key);
      }
    }
    const compared = all.subarray(0, found.length * vector.length);
    this.#offer(compare(compared, vector, this.asked), (place) => found[place] as number);
    for (const key of found) this.#compared.add(key);
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
