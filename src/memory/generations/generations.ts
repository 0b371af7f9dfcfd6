import { unavailable } from "../../errors.js";
import { type Clock, systemClock } from "../pacing/clock.js";
import type { Embedder, Embedding, EmbedInput, ModelIdentity } from "../ports/embedder.js";
import { type Generation, generationOf, inGeneration } from "../ports/generation.js";

/** Time that a call waits for a model that another replica uses already. */
const LOADING_TIMEOUT_MS = 20_000;
/** Share of a text that the model may fail to read without anybody being told. */
const UNREAD_SHARE_TOLD = 0.5;

/** The models that this process has loaded, by model generation: one, or two during a change of the model. */
export class Generations {
  /** Model generation of new namespaces. */
  newest: Generation;
  /** Model generations in which a log may be, including those not loaded yet and those not erased yet. */
  known: ReadonlySet<Generation>;
  /** Model generations in use now or soon: logs of all others must move before they are used. */
  needed: ReadonlySet<Generation>;
  /** Reads the present model generations from the database: another replica may be ahead. */
  refresh: () => Promise<void> = async () => {};
  /** Model generations that are being loaded. */
  readonly #awaited = new Set<Generation>();
  /** Model generations whose model has another revision here. */
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

  /** Answers the ids of a log and of its possible copies. */
  familyOf(logId: string): string[] {
    return [...this.known].map((generation) => inGeneration(logId, generation));
  }

  /** Tells whether a log's model is no longer in use, so that the log must move before it is used. */
  async isOutdated(logId: string): Promise<boolean> {
    const generation = generationOf(logId);
    if (generation === this.newest || this.#loaded.has(generation)) return false;
    await this.refresh();
    await this.#until(() => !this.#awaited.has(generation));
    return !this.#loaded.has(generation) && (this.#gone.has(generation) || !this.needed.has(generation));
  }

  /** Tells whether a model is neither loaded nor expected soon, as far as this process knows. */
  isOut(generation: Generation): boolean {
    return generation !== this.newest && !this.#loaded.has(generation) && !this.#awaited.has(generation);
  }

  /** The loaded model generations. */
  get models(): ModelIdentity[] {
    return [...this.#loaded.values()].map(({ model }) => model);
  }

  /** Identity of a loaded model. */
  modelOf(generation: Generation): ModelIdentity | undefined {
    return this.#loaded.get(generation)?.model;
  }

  has(generation: Generation): boolean {
    return this.#loaded.has(generation);
  }

  /** Announces a model, so that calls wait for it; false if it is loading, or was given up for good. */
  startLoading(generation: Generation): boolean {
    if (this.#awaited.has(generation) || this.#gone.has(generation)) return false;
    this.#awaited.add(generation);
    return true;
  }

  add(generation: Generation, embedder: Embedder): void {
    this.#loaded.set(generation, embedder);
    this.#settle(generation);
  }

  /** Records that a model could not be loaded, for good or only this time. */
  giveUp(generation: Generation, { forGood }: { forGood: boolean }): void {
    if (forGood) this.#gone.add(generation);
    this.#settle(generation);
  }

  remove(generation: Generation): void {
    this.#loaded.delete(generation);
  }

  /** Number of dimensions of a log's vectors; undefined if its model is not loaded. */
  dimensionsOf(logId: string): number | undefined {
    return this.#loaded.get(generationOf(logId))?.model.dimensions;
  }

  /** @throws MemoryError as `Embedder.embed`; `unavailable` also if the model is not loaded in time. */
  async embed(generation: Generation, input: EmbedInput): Promise<Embedding> {
    const embedder = this.#loaded.get(generation) ?? (await this.#arrival(generation, input.signal));
    return embedder.embed(input);
  }

  /** Answers which share of a text the newest model can hardly read; undefined if it reads at least half of it. */
  unreadShare(text: string): number | undefined {
    const share = this.#loaded.get(this.newest)?.unreadShare(text) ?? 0;
    return share > UNREAD_SHARE_TOLD ? share : undefined;
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

  /** Waits until the condition holds, or the time is over. @throws the signal's reason if it is aborted */
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
