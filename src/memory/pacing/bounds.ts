/**
 * How much may be held at once, and for how long one piece of work may keep the main thread. An entry
 * of the log may weigh some megabytes: a bound on their number alone bounds nothing.
 */

import type { Entry, Numbered, Stored } from "../ports/log.js";

/** Bytes of a slice of the log; the entry that reaches it is the last, whatever its own size. */
export const SLICE_BYTES_MAX = 4_194_304;
/** Time after which work on the main thread lets everything else run, so that no pause exceeds 20 ms. */
export const PIECE_MS_MAX = 5;

/** An entry's objects, and what it costs to read the shortest. */
const ENTRY_BYTES = 1024;
const WINDOW_BYTES = 64;
const CHAR_BYTES = 2;

/** Bytes that an entry takes in memory, about and rather too many; only the parts that were read count. */
export function weightOf(entry: Entry<"head">): number {
  const { text = "", metadata = "", vectors, windows = [] } = entry as Partial<Stored>;
  const chars = text.length + metadata.length;
  return ENTRY_BYTES + chars * CHAR_BYTES + (vectors?.byteLength ?? 0) + windows.length * WINDOW_BYTES;
}

/** Collects entries until they are as many, or as heavy, as one slice may be. */
export class Slice<E extends Entry<"head">> {
  readonly entries: Numbered<E>[] = [];
  bytes = 0;

  constructor(private readonly limit = Number.POSITIVE_INFINITY) {}

  get isFull(): boolean {
    return this.entries.length >= this.limit || this.bytes >= SLICE_BYTES_MAX;
  }

  add(sequence: number, entry: E): void {
    this.entries.push({ sequence, entry });
    this.bytes += weightOf(entry);
  }
}

/** Cuts entries that are to be written into slices, in order. */
export function* inSlices<E extends Entry<"head">>(entries: readonly E[]): Generator<E[]> {
  let slice: E[] = [];
  let bytes = 0;
  for (const entry of entries) {
    slice.push(entry);
    bytes += weightOf(entry);
    if (bytes < SLICE_BYTES_MAX) continue;
    yield slice;
    [slice, bytes] = [[], 0];
  }
  if (slice.length > 0) yield slice;
}

/** Measures how long the piece of work under way has kept the main thread. */
export class Piece {
  readonly #endsMs = performance.now() + PIECE_MS_MAX;

  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }
}
