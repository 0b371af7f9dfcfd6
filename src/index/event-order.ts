import type { Among, EventOrder, Happened } from "../memory/ports/index.js";
import { Best } from "./rows/best.js";
import type { Memories } from "./rows/memories.js";

/** A segment, and when each of its memories happened. */
export type Times = Pick<Memories, "sequences" | "live"> & {
  readonly fields: { readonly arrays: { readonly events: Float64Array } };
};

/** Memories read before other work may run. */
const SLICE = 4_096;

/**
 * Finds the first `limit` of some memories in the order of their event times. It looks at all of them, and yields often.
 * Rows that were removed are left out: another part may have their memory.
 */
export function* firstByEventTime(
  segments: readonly Times[],
  among: Among,
  { isNewestFirst, after, limit }: EventOrder,
): Generator<void, Happened[]> {
  const sign = isNewestFirst ? -1 : 1;
  const first = new Best(limit);
  const slices = segments.flatMap((segment) => slicesOf(segment));
  // Most memories happened in the order of the log: from its other end each would be better than all before it.
  if (isNewestFirst) slices.reverse();
  for (const { sequences, fields, live, from, to } of slices) {
    const { events } = fields.arrays;
    const wanted = among.between(sequences[from] as number, sequences[to - 1] as number);
    for (let i = 0, row = from; i < wanted.length && row < to; row++) {
      const sequence = sequences[row] as number;
      // Another part has those that are passed over, or they have left this one since they were selected.
      while ((wanted[i] as number) < sequence) i++;
      if (sequence !== wanted[i]) continue;
      if (!live.has(row)) continue;
      const atMs = events[row] as number;
      if (after !== undefined && sign * (atMs - after.atMs || sequence - after.sequence) <= 0) continue;
      first.offer(sign * sequence, -sign * atMs);
    }
    yield;
  }
  return first.sorted().map(({ number, score }) => ({ sequence: sign * number, atMs: -sign * score }));
}

function slicesOf({ sequences, fields, live }: Times) {
  const { length } = sequences;
  return Array.from({ length: Math.ceil(length / SLICE) }, (_, i) => {
    const from = i * SLICE;
    return { sequences, fields, live, from, to: Math.min(length, from + SLICE) };
  });
}
