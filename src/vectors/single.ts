import type { VectorRow } from "../memory/ports/vectors.js";

/** One vector, and which of which memory's it is. */
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
