import type { Clock } from "../../concurrency/clock.js";
import type { Log } from "../ports/log.js";
import { vectorsOf } from "../ports/windows.js";
import { fetchAll } from "../versions/fetch.js";
import type { MeanCosine } from "./mean-cosine.js";
import { VectorMean, type WithVectors } from "./vector-mean.js";

export interface SampledMeanOptions {
  readonly logId: string;
  readonly log: Pick<Log, "fetch">;
  readonly clock: Clock;
  /** True if a memory's vectors can be compared with those of the log's model. */
  fits(vectors: readonly Float32Array[]): boolean;
}

export type Sample = () => Promise<readonly number[]>;

/** Knows the mean cosine to a sample of the living memories, and reads their vectors from the log for it. */
export class SampledMean {
  readonly #mean = new VectorMean();
  #known: { readonly version: number; readonly mean: Promise<MeanCosine> } | undefined;

  constructor(private readonly options: SampledMeanOptions) {}

  get bytes(): number {
    return this.#mean.bytes;
  }

  /**
   * Returns the mean for a version of the memories; it is computed once for each.
   *
   * @param sample lists the log numbers of a sample of them
   */
  of(version: number, sample: Sample): Promise<MeanCosine> {
    if (this.#known?.version === version) return this.#known.mean;
    const known = { version, mean: this.#follow(this.#known?.mean, sample) };
    this.#known = known;
    known.mean.catch(() => {
      // The next call tries again.
      if (this.#known === known) this.#known = undefined;
    });
    return known.mean;
  }

  async #follow(before: Promise<unknown> | undefined, sample: Sample): Promise<MeanCosine> {
    // Whoever began the one before got its failure.
    await before?.catch(() => {});
    return this.#mean.follow(await sample(), (sequences) => this.#readVectors(sequences));
  }

  async *#readVectors(sequences: readonly number[]): AsyncGenerator<WithVectors[]> {
    const { log, logId, clock, fits } = this.options;
    for await (const found of fetchAll(log, { logId, sequences, what: "vectors" })) {
      const some = found.map(({ sequence, entry }) => ({ sequence, vectors: vectorsOf(entry) }));
      yield some.filter(({ vectors }) => fits(vectors));
      await clock.yield();
    }
  }
}
