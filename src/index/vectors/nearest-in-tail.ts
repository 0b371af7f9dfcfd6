import { MetricKind } from "usearch";
import { TimeSlice } from "../../concurrency/time-slices.js";
import type { Among, Hit } from "../../memory/ports/index.js";
import { Best } from "../rows/best.js";
import { lowerBound } from "../rows/lower-bound.js";
import type { Chunk } from "./chunk.js";
import { compare, compareTied, gather } from "./compare.js";
import type { Matches } from "./graph.js";
import { keyOf, parseKey } from "./keys.js";
import { type Quantized, quantize, rounded } from "./quantize.js";

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
  /** True if there are graphs beside it: of equal vectors, those here and those there are equally near. */
  readonly isBesideGraphs?: boolean | undefined;
}

/**
 * Finds the `count` nearest vectors in chunks, or all, the nearest first. None is missed: all are compared as int8,
 * and each that may be among the nearest in spite of the rounding is compared as float32.
 */
export async function nearestInTail(chunks: readonly Chunk[], asked: Asked): Promise<Hit[]> {
  const search = new TailSearch(asked);
  const timeSlice = new TimeSlice();
  for (const chunk of chunks) {
    await timeSlice.endIfOver();
    search.scan(chunk);
  }
  for (const scanned of search.undecided()) {
    await timeSlice.endIfOver();
    search.compareAll(scanned.chunk, scanned.compared);
  }
  const hits = search.hits();
  return asked.isBesideGraphs ? chunks.flatMap((chunk) => roundedIn(chunk, asked.vector, hits)) : hits;
}

/** Compares those of some vectors that are in a chunk as a graph has them. */
function roundedIn(
  { keys, rows, vectors, dimensions }: Chunk,
  vector: Float32Array,
  hits: readonly Hit[],
): Hit[] {
  const sought = Float64Array.from(hits, ({ sequence, window }) => keyOf(sequence, window)).sort();
  const positions = Uint32Array.from(sought, (key) => lowerBound(keys, key, { to: rows }));
  const own = positions.filter((row, i) => row < rows && keys[row] === sought[i]);
  const found = compare(rounded(gather(vectors, own, dimensions)), vector, { count: own.length });
  return Array.from(found.keys, (at, i) => {
    const key = keys[own[Number(at)] as number] as number;
    return { ...parseKey(key), similarity: 1 - (found.distances[i] as number) };
  });
}

/** A chunk whose vectors were compared as int8. */
interface Scanned {
  readonly chunk: Chunk;
  /** Lowest product that two vectors may have whose cosine is at least this. */
  readonly lowestProduct: (cosine: number) => number;
  /** Highest product of int8 that a vector may have that was not compared as float32. */
  readonly highest: number;
  /** Keys of those that were compared as float32: rows move when others are removed. */
  readonly compared: ReadonlySet<number>;
}

class TailSearch {
  readonly #query: Quantized;
  readonly #nearest: Best;
  readonly #scanned: Scanned[] = [];

  constructor(private readonly asked: Asked) {
    this.#query = quantize(asked.vector);
    this.#nearest = new Best(asked.count);
  }

  /**
   * Compares the vectors of a chunk as int8, and as float32 those that may be among the nearest; few are compared as
   * float32 at once.
   */
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
    const nearest = Uint32Array.from(found.keys, rows ? (i) => rows[Number(i)] as number : Number);
    const lowestProduct = lowestProductIn(chunk, this.#query);
    const product = (i: number) => 1 - (found.distances[i] as number);
    // The highest product comes first. Those that are compared at first raise what the others must have.
    let compared = 0;
    for (const end of [this.asked.count, wanted]) {
      const from = compared;
      const needed = lowestProduct(this.#known);
      while (compared < end && product(compared) >= needed) compared++;
      this.#compareRows(chunk, nearest.subarray(from, compared));
    }
    const keys = new Set<number>();
    for (let i = 0; i < compared; i++) keys.add(chunk.keys[nearest[i] as number] as number);
    this.#scanned.push({
      chunk,
      lowestProduct,
      highest: product(Math.min(compared, wanted - 1)),
      compared: keys,
    });
  }

  /** Lists the chunks that may have more of the nearest than the scan has found. */
  undecided(): Scanned[] {
    return this.#scanned.filter(({ lowestProduct, highest }) => highest >= lowestProduct(this.#known));
  }

  /** Compares all vectors of a chunk as float32, but those that were. */
  compareAll(chunk: Chunk, compared?: ReadonlySet<number>): void {
    const rows = this.#rowsIn(chunk);
    const { vector, count } = this.asked;
    if (rows === undefined) {
      const all = chunk.vectors.subarray(0, chunk.rows * chunk.dimensions);
      this.#offer(compareTied(all, vector, count), (row) => chunk.keys[row] as number, compared);
      return;
    }
    for (let from = 0; from < rows.length; from += GATHERED) {
      this.#compareRows(chunk, rows.subarray(from, from + GATHERED), compared);
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

  #compareRows({ vectors, keys, dimensions }: Chunk, rows: Uint32Array, except?: ReadonlySet<number>): void {
    const { vector, count } = this.asked;
    const found = compareTied(gather(vectors, rows, dimensions), vector, count);
    this.#offer(found, (position) => keys[rows[position] as number] as number, except);
  }

  #offer(
    { keys, distances }: Matches,
    keyAt: (position: number) => number,
    except?: ReadonlySet<number>,
  ): void {
    for (let i = 0; i < keys.length; i++) {
      const key = keyAt(Number(keys[i]));
      if (except === undefined || !except.has(key)) this.#nearest.offer(key, 1 - (distances[i] as number));
    }
  }
}

/** Returns what tells the lowest product of int8 that a vector of a chunk may have by the cosine that it has at least. */
function lowestProductIn({ angle, shortest, longest }: Chunk, query: Quantized): (cosine: number) => number {
  return (cosine) => {
    const farthest = Math.min(Math.PI, angleOf(cosine) + query.angle + angle);
    const quantized = Math.cos(farthest) - ROUNDING_ERROR;
    return quantized * query.length * (quantized > 0 ? Math.min(shortest, longest) : longest);
  };
}

function angleOf(cosine: number): number {
  return Math.acos(Math.max(-1, Math.min(1, cosine)));
}
