/** A flat array: the only thing that segments of an index are made of. */
export type Flat = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** All arrays of a part of a segment, by name. */
export type FlatArrays = Readonly<Record<string, Flat>>;

/** Called with each range of elements that was overwritten, so that they can be overwritten in a file, too. */
export type Overwritten = (array: Flat, from: number, to: number) => void;

/** A part that is merged into another behind those before it, and the new row of each of its rows; -1 for one that is left out. */
export interface MergeInput<P> {
  readonly part: P;
  readonly newRowOf: Int32Array;
}

/** Has parts of one row each merged in their order. */
export function asInputs<P>(parts: readonly P[]): MergeInput<P>[] {
  return parts.map((part, row) => ({ part, newRowOf: Int32Array.of(row) }));
}
