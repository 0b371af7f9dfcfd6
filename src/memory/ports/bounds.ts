/**
 * Bounds of the bytes held at a time. An entry of the log may take some megabytes, so a bound on their number
 * alone is not enough.
 */

import type { Appended, Batch, Entry, Projected, Sequenced, Stored } from "./log.js";

/** Bytes of a slice of the log. The entry that reaches this size is the last, whatever its own size. */
export const SLICE_BYTES_MAX = 4_194_304;

/** Bytes of an entry's objects, including the cost of reading the shortest. */
const ENTRY_BYTES = 1024;
const WINDOW_BYTES = 64;
const CHAR_BYTES = 2;

/** Estimates an entry's bytes in memory, rather too high; only the parts that were read count. */
export function weightOf(entry: Entry<"header">): number {
  const { text = "", metadata = "", vectors, windows = [] } = entry as Partial<Stored>;
  const chars = text.length + metadata.length;
  return ENTRY_BYTES + chars * CHAR_BYTES + (vectors?.byteLength ?? 0) + windows.length * WINDOW_BYTES;
}

/** Counts the bytes of a memory's text and metadata. */
export function byteLengthOf({ text, metadata }: Pick<Projected["text"], "text" | "metadata">): number {
  return Buffer.byteLength(text) + Buffer.byteLength(metadata);
}

/** Collects entries up to the number or the size of one slice. */
export class Slice<E extends Entry<"header">> {
  readonly entries: Sequenced<E>[] = [];
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

/** Appends entries a slice at a time, in order. Returns how many were inserted before the first that was not. */
export async function appendInSlices(
  { logId, from, entries }: Batch,
  insert: (slice: Batch, bytes: number) => Promise<number>,
): Promise<number> {
  let inserted = 0;
  for (let end = 0; end < entries.length && inserted === end; ) {
    let bytes = 0;
    while (end < entries.length && bytes < SLICE_BYTES_MAX) bytes += weightOf(entries[end++] as Appended);
    const slice = { logId, from: from + inserted, entries: entries.slice(inserted, end) };
    inserted += await insert(slice, bytes);
  }
  return inserted;
}
