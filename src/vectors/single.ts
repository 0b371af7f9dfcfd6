import type { VectorRow } from "../memory/ports/vectors.js";

/** One vector of a memory, with its index among them. */
export interface Single {
  readonly sequence: number;
  readonly window: number;
  readonly vector: Float32Array;
}

export function singlesOf(rows: readonly VectorRow[]): Single[] {
  return rows.flatMap(({ sequence, vectors }) =>
    vectors.map((vector, window) => ({ sequence, window, vector })),
  );
}
