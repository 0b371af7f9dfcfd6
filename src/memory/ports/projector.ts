/** The port to what projects vectors to two dimensions, away from the event loop. */
export interface Projector {
  /**
   * `rows` are vectors one behind the other. Answers x and y of each in turn, from -1 to 1: the two
   * directions in which they differ most. The same rows give the same answer.
   *
   * @throws MemoryError `unavailable` when too much waits already.
   */
  project(of: { rows: Float32Array; dimensions: number }): Promise<Float32Array>;
}
