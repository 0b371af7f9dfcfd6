import { quantize } from "../quantize.js";
import { rowsOf } from "../segment-rows.js";
import { graphPath } from "../snapshot/manifest.js";
import { readSlots, type Slots } from "../snapshot/slots.js";
import type { SnapshotOf } from "../snapshot/snapshot.js";

/** A segment's vectors in a byte for each dimension, in the order of their keys. */
export interface CompactRows extends Slots {
  readonly rows: Int8Array;
}

/** Reads a segment's vectors. This takes about a microsecond each. */
export function readCompact(ref: SnapshotOf, stem: string): CompactRows {
  const { keys, slots } = readSlots(ref, stem);
  const rows = new Int8Array(keys.length * ref.dimensions);
  const places = new Map(Array.from(keys, (key, place) => [key, place] as const));
  for (const { keys: found, vectors } of rowsOf(graphPath(ref, stem), ref.dimensions)) {
    for (const [row, key] of found.entries()) {
      const place = places.get(Number(key));
      if (place === undefined) continue;
      const vector = vectors.subarray(row * ref.dimensions, (row + 1) * ref.dimensions);
      rows.set(quantize(vector).numbers, place * ref.dimensions);
    }
  }
  return { keys, slots, rows };
}
