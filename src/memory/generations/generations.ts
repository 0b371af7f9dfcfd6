import { unavailable } from "../../errors.js";
import { type Clock, systemClock } from "../pacing/clock.js";
import type { Embedder, Embedding, EmbedInput, ModelIdentity } from "../ports/embedder.js";
import { type Generation, generationOf, inGeneration } from "../ports/generation.js";

/** How long a call waits for a model that another replica has begun to use before this one. */
const LOADING_TIMEOUT_MS = 20_000;

/** The models that this process has loaded, by model generation: one, or two while the database changes its model. */
export class Generations {
  /** Namespaces that come into being get this one. */
  newest: Generation;
  /** All in which a log may be: also one that is not loaded yet, and one that is not erased yet. */
  known: ReadonlySet<Generation>;
  /** Those whose models are in use, or will be: logs of all others must move before they are used. */
  needed: ReadonlySet<Generation>;
  /** Looks up in the database which model generations there are now: another replica may be ahead. */
  refresh: () => Promise<void> = async () => {};
  /** Those that are being loaded. */
  readonly #awaited = new Set<Generation>();
  /** Those whose model is another one now. */
  readonly #gone = new Set<Generation>();
  readonly #loaded = new Map<Generation, Embedder>();
  readonly #waiting = new Set<() => unknown>();

  constructor(
    generation: Generation,
    embedder: Embedder,
    private readonly clock: Clock = systemClock,
  ) {
    this.newest = generation;
    this.known = new Set([generation]);
    this.needed = this.known;
    this.#loaded.set(generation, embedder);
  }

  /** The log and its copies, also such as may not be there. */
  familyOf(logId: string): string[] {
    return [...this.known].map((generation) => inGeneration(logId, generation));
  }

  /** Whether a log is of a model that is not there any more, so that it must move before it is used. */
  async isOutdated(logId: string): Promise<boolean> {
    const generation = generationOf(logId);
    if (generation === this.newest || this.#loaded.has(generation)) return false;
    await this.refresh();
    await this.#until(() => !this.#awaited.has(generation));
    return !this.#loaded.has(generation) && (this.#gone.has(generation) || !this.needed.has(generation));
  }

  /** Whether a model can embed nothing, nor will soon, as far as this process knows. */
  isOut(generation: Generation): boolean {
    return generation !== this.newest && !this.#loaded.has(generation) && !this.#awaited.has(generation);
  }

  /** Those that are loaded. */
  get models(): ModelIdentity[] {
    return [...this.#loaded.values()].map(({ model }) => model);
  }

  has(generation: Generation): boolean {
    return this.#loaded.has(generation);
  }

  /** Says that a model is going to be loaded: whoever needs it waits. False when it is being loaded, or is gone. */
  startLoading(generation: Generation): boolean {
    if (this.#awaited.has(generation) || this.#gone.has(generation)) return false;
    this.#awaited.add(generation);
    return true;
  }

  add(generation: Generation, embedder: Embedder): void {
    this.#loaded.set(generation, embedder);
    this.#settle(generation);
  }

  /** Says that a model could not be loaded: for good, or only this time. */
  giveUp(generation: Generation, { forGood }: { forGood: boolean }): void {
    if (forGood) this.#gone.add(generation);
    this.#settle(generation);
  }

  remove(generation: Generation): void {
    this.#loaded.delete(generation);
  }

  /** The length of the vectors in a log; undefined when its model is not loaded. */
  dimensionsOf(logId: string): number | undefined {
    return this.#loaded.get(generationOf(logId))?.model.dimensions;
  }

  /** @throws MemoryError as `Embedder.embed`; `unavailable` also when the model generation's model is not loaded in time. */
  async embed(generation: Generation, input: EmbedInput): Promise<Embedding> {
    const embedder = this.#loaded.get(generation) ?? (await this.#arrival(generation, input.signal));
    return embedder.embed(input);
  }

  async #arrival(generation: Generation, signal: AbortSignal | undefined): Promise<Embedder> {
    await this.refresh();
    await this.#until(() => !this.#awaited.has(generation), signal);
    const embedder = this.#loaded.get(generation);
    if (embedder === undefined) throw unavailable("the model is not loaded yet");
    return embedder;
  }

  #settle(generation: Generation): void {
    this.#awaited.delete(generation);
    for (const look of this.#waiting) look();
  }

  /** Resolves when it is so, or it has taken too long. @throws the signal's reason when it is aborted */
  #until(isSo: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#waiting.delete(look);
        signal?.removeEventListener("abort", abort);
        settle();
      };
      const look = () => isSo() && end(resolve);
      const abort = () => end(() => reject(signal?.reason));
      void this.clock.sleep(LOADING_TIMEOUT_MS).then(() => end(resolve));
      this.#waiting.add(look);
      signal?.addEventListener("abort", abort);
      if (signal?.aborted) abort();
      else look();
    });
  }
}
