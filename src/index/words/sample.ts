import type { WordPart } from "./part.js";
import type { WordSegment } from "./segment.js";

/**
 * Maximum number of memories in a sample. The mean of a thousand cosines is within about 0.005 of the mean of
 * all, and small namespaces are sampled whole.
 */
export const SAMPLE_MAX = 1024;
/** Number of hashes of which the lowest are chosen at a time. */
const CHOSEN_MAX = 4 * SAMPLE_MAX;
/** Number of rows looked at before other work may run. */
const SLICE = 8192;
/** A hash and a row make one number, which a double holds. */
const ROWS_MAX = 2 ** 21;

/** The living rows of one segment with the lowest hashes: hash times `ROWS_MAX` plus row, ascending. */
interface Lowest {
  readonly keys: Float64Array;
  /** The segment's counter of removals when they were found. */
  readonly changes: number;
}

/** A segment of 65,536 rows takes half a millisecond, and most have not changed since they were sampled before. */
const known = new WeakMap<WordPart, Lowest>();

/**
 * Samples the living memories: lists those up to 1,024 whose log numbers have the lowest hashes, lowest first. So
 * the sample depends on nothing but which memories live, and deleted memories leave no trace in it.
 */
export function* sampleOf(segments: readonly WordSegment[]): Generator<void, readonly number[]> {
  const cursors: SampleCursor[] = [];
  for (const segment of segments) cursors.push(new SampleCursor(segment, yield* lowestOf(segment)));
  const sample: number[] = [];
  for (;;) {
    let first: SampleCursor | undefined;
    for (const each of cursors) if (each.hash >= 0 && (!first || each.precedes(first))) first = each;
    if (first === undefined || sample.length === SAMPLE_MAX) return sample;
    sample.push(first.sequence);
    first.advance();
  }
}

function* lowestOf(segment: WordSegment): Generator<void, Float64Array> {
  const { words } = segment;
  const before = known.get(words);
  if (before?.changes === words.changes) return before.keys;
  const { changes } = words;
  const keys = yield* chooseLowest(segment);
  known.set(words, { keys, changes });
  return keys;
}

function* chooseLowest({ sequences, live }: WordSegment): Generator<void, Float64Array> {
  const chosen = new Float64Array(CHOSEN_MAX);
  let count = 0;
  let bar = Number.POSITIVE_INFINITY;
  for (let row = 0; row < sequences.length; row++) {
    const key = hashOf(sequences[row] as number) * ROWS_MAX + row;
    if (key < bar && live.has(row)) chosen[count++] = key;
    if (count === CHOSEN_MAX) {
      chosen.sort();
      count = SAMPLE_MAX;
      bar = chosen[count - 1] as number;
    }
    if (row % SLICE === SLICE - 1) yield;
  }
  return chosen.slice(0, count).sort().slice(0, SAMPLE_MAX);
}

/** A place among the rows of a segment with the lowest hashes. */
class SampleCursor {
  /** Hash and log number of the memory here; the hash is -1 behind the last one. */
  hash = -1;
  sequence = 0;
  #next = 0;

  constructor(
    private readonly segment: WordSegment,
    private readonly keys: Float64Array,
  ) {
    this.advance();
  }

  advance(): void {
    const key = this.keys[this.#next++];
    this.hash = key === undefined ? -1 : Math.floor(key / ROWS_MAX);
    this.sequence = key === undefined ? 0 : (this.segment.sequences[key % ROWS_MAX] as number);
  }

  precedes(other: SampleCursor): boolean {
    return this.hash < other.hash || (this.hash === other.hash && this.sequence < other.sequence);
  }
}

/** Spreads neighbouring numbers over 32 bits. */
function hashOf(sequence: number): number {
  let hash = (sequence >>> 0) ^ Math.imul(Math.floor(sequence / 2 ** 32), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
