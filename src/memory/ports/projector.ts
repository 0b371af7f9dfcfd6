/** The port to the projection of vectors to two dimensions, away from the event loop. */
export interface Projector {
  /**
   * Projects vectors, given end to end in `rows`, to the two directions in which they differ most. Answers x
   * and y of each in turn, from -1 to 1. The same rows give the same answer.
   *
   * @throws MemoryError `unavailable` if too much waits already.
   */
  project(of: { rows: Float32Array; dimensions: number }): Promise<Float32Array>;
}
