import type { Hidden, Viewing } from "../versions/hidden.js";
import type { Selection } from "./selection.js";

/** Number of memories looked at before other work may get its turn. */
const SLICE = 16_384;

/** Leaves out of a selection the memories that are hidden. It yields often, and takes as long as the shorter is. */
export function* shownAmong(
  selection: Selection,
  { hidden, viewing }: { readonly hidden: Hidden; readonly viewing: Viewing },
): Generator<void, Selection> {
  if (hidden.size < selection.size) return yield* selection.without(yield* hidden.all(viewing));
  const gone: number[] = [];
  for (const [i, sequence] of selection.sequences.entries()) {
    if (i % SLICE === 0) yield;
    if (!hidden.isShown(sequence, viewing)) gone.push(sequence);
  }
  return yield* selection.without(gone);
}
