import { exactSearch, MetricKind } from "usearch";
import type { Matches } from "./graph.js";

/** Room for gathering, which is only used between two pauses. */
let bytes = new ArrayBuffer(0);

/**
 * Copies some rows, end to end, into memory that the next call overwrites. It begins where its buffer begins, as
 * USearch needs it.
 */
export function gather<T extends Float32Array | Int8Array>(all: T, rows: Uint32Array, dimensions: number): T {
  const length = rows.length * dimensions;
  if (bytes.byteLength < length * all.BYTES_PER_ELEMENT)
    bytes = new ArrayBuffer(length * all.BYTES_PER_ELEMENT);
  const gathered = new (all.constructor as new (buffer: ArrayBuffer, offset: number, length: number) => T)(
    bytes,
    0,
    length,
  );
  for (let i = 0; i < rows.length; ) {
    const first = rows[i] as number;
    let run = 1;
    while (rows[i + run] === first + run) run++;
    gathered.set(all.subarray(first * dimensions, (first + run) * dimensions), i * dimensions);
    i += run;
  }
  return gathered;
}

/** Maximum number of vectors beyond those asked for that are found because they are as near as the last. */
const TIED_MAX = 4_096;

/**
 * Finds the `count` nearest to a vector of others, and all that are as near as the last of these, because the oldest of
 * equals count. In large segments these are up to `TIED_MAX`: one text stored 50,000 times would hold the main thread for
 * 40 ms in each recall.
 */
export function compareTied<T extends Float32Array | Int8Array>(all: T, vector: T, count: number): Matches {
  for (let more = 1; ; more *= 64) {
    const found = compare(all, vector, { count: count + more });
    const { distances } = found;
    const isWhole = distances.length < count + more || distances.at(-1) !== distances[count - 1];
    if (isWhole || more >= TIED_MAX) return found;
  }
}

/**
 * Finds the `count` nearest to a vector of others, by their places; all are end to end, and must begin where their
 * buffers do: USearch ignores an offset.
 */
export function compare<T extends Float32Array | Int8Array>(
  all: T,
  vector: T,
  { count, metric = MetricKind.Cos }: { count: number; metric?: MetricKind },
): Matches {
  const wanted = Math.min(count, all.length / vector.length);
  if (wanted === 0) return { keys: new BigUint64Array(), distances: new Float32Array() };
  return exactSearch(all, vector, vector.length, wanted, metric, 1) as Matches;
}
