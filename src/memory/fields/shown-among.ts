import type { Hidden, Viewing } from "../versions/hidden.js";
import { Selection } from "./selection.js";

/** Number of memories looked at before other work may get its turn. */
const SLICE = 16_384;

/** Leaves out of a selection the memories that are hidden. It yields often, and takes as long as the shorter is. */
export function* shownAmong(
  selection: Selection,
  { hidden, viewing }: { readonly hidden: Hidden; readonly viewing: Viewing },
): Generator<void, Selection> {
  if (hidden.size < selection.size) {
    return selection.without(Float64Array.from(yield* hidden.all(viewing)).sort());
  }
  const shown: number[] = [];
  for (const [i, sequence] of selection.sequences.entries()) {
    if (i % SLICE === 0) yield;
    if (hidden.isShown(sequence, viewing)) shown.push(sequence);
  }
  return new Selection(Float64Array.from(shown));
}
