import { Best } from "../rows/best.js";
import type { WordSegment } from "./part.js";

/**
 * Maximum number of memories in a sample. The mean of a thousand cosines is within about 0.005 of the mean of
 * all, and small namespaces are sampled whole.
 */
export const SAMPLE_MAX = 1024;
/** Number of rows read before other work may run. */
const SLICE = 8192;

/** The living memories of one segment whose log numbers have the lowest hashes. */
interface Lowest {
  readonly sequences: readonly number[];
  /** Number of the segment's living rows when they were found. */
  readonly living: number;
}

/** A segment of 65,536 rows takes half a millisecond, and most have not changed since they were sampled before. */
const known = new WeakMap<WordSegment, Lowest>();

/**
 * Samples the living memories: lists those up to 1,024 whose log numbers have the lowest hashes, lowest first. So
 * the sample depends on nothing but which memories live, and deleted memories leave no trace in it.
 */
export function* sampleOf(segments: readonly WordSegment[]): Generator<void, readonly number[]> {
  const lowest = new Best(SAMPLE_MAX);
  for (const segment of segments) {
    for (const sequence of yield* lowestOf(segment)) lowest.offer(sequence, -hashOf(sequence));
    yield;
  }
  return lowest.sorted().map(({ number }) => number);
}

function* lowestOf(segment: WordSegment): Generator<void, readonly number[]> {
  const { sequences, live, living } = segment;
  const before = known.get(segment);
  if (before?.living === living) return before.sequences;
  const lowest = new Best(SAMPLE_MAX);
  for (let row = 0; row < sequences.length; row++) {
    const sequence = sequences[row] as number;
    const score = -hashOf(sequence);
    if (score >= lowest.bar && live.has(row)) lowest.offer(sequence, score);
    if (row % SLICE === SLICE - 1) yield;
  }
  const found = lowest.sorted().map(({ number }) => number);
  known.set(segment, { sequences: found, living });
  return found;
}

/** Spreads neighbouring numbers over 32 bits. */
function hashOf(sequence: number): number {
  let hash = (sequence >>> 0) ^ Math.imul(Math.floor(sequence / 2 ** 32), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
