import { unavailable } from "../../errors.js";
import { type Clock, systemClock } from "../pacing/clock.js";
import type { Embedder, Embedding, EmbedInput, ModelIdentity } from "../ports/embedder.js";
import { type Edition, editionOf, inEdition } from "../ports/generation.js";

/** How long a call waits for a model that another replica has begun to use before this one. */
const LOADING_TIMEOUT_MS = 20_000;

/** The models that this process has loaded, by edition: one, or two while the database changes its model. */
export class Editions {
  /** Namespaces that come into being get this one. */
  newest: Edition;
  /** All in which a log may be: also one that is not loaded yet, and one that is not erased yet. */
  known: ReadonlySet<Edition>;
  /** Those whose models are in use, or will be: logs of all others must move before they are used. */
  needed: ReadonlySet<Edition>;
  /** Looks up in the database which editions there are now: another replica may be ahead. */
  refresh: () => Promise<void> = async () => {};
  /** Those that are being loaded. */
  readonly #awaited = new Set<Edition>();
  /** Those whose model is another one now. */
  readonly #gone = new Set<Edition>();
  readonly #loaded = new Map<Edition, Embedder>();
  readonly #waiting = new Set<() => unknown>();

  constructor(
    edition: Edition,
    embedder: Embedder,
    private readonly clock: Clock = systemClock,
  ) {
    this.newest = edition;
    this.known = new Set([edition]);
    this.needed = this.known;
    this.#loaded.set(edition, embedder);
  }

  /** The log and its copies, also such as may not be there. */
  familyOf(incarnation: string): string[] {
    return [...this.known].map((edition) => inEdition(incarnation, edition));
  }

  /** Whether a log is of a model that is not there any more, so that it must move before it is used. */
  async isOutdated(incarnation: string): Promise<boolean> {
    const edition = editionOf(incarnation);
    if (edition === this.newest || this.#loaded.has(edition)) return false;
    await this.refresh();
    await this.#until(() => !this.#awaited.has(edition));
    return !this.#loaded.has(edition) && (this.#gone.has(edition) || !this.needed.has(edition));
  }

  /** Whether a model can embed nothing, nor will soon, as far as this process knows. */
  isOut(edition: Edition): boolean {
    return edition !== this.newest && !this.#loaded.has(edition) && !this.#awaited.has(edition);
  }

  /** Those that are loaded. */
  get models(): ModelIdentity[] {
    return [...this.#loaded.values()].map(({ model }) => model);
  }

  has(edition: Edition): boolean {
    return this.#loaded.has(edition);
  }

  /** Says that a model is going to be loaded: whoever needs it waits. False when it is being loaded, or is gone. */
  startLoading(edition: Edition): boolean {
    if (this.#awaited.has(edition) || this.#gone.has(edition)) return false;
    this.#awaited.add(edition);
    return true;
  }

  add(edition: Edition, embedder: Embedder): void {
    this.#loaded.set(edition, embedder);
    this.#settle(edition);
  }

  /** Says that a model could not be loaded: for good, or only this time. */
  giveUp(edition: Edition, { forGood }: { forGood: boolean }): void {
    if (forGood) this.#gone.add(edition);
    this.#settle(edition);
  }

  remove(edition: Edition): void {
    this.#loaded.delete(edition);
  }

  /** The length of the vectors in a log; undefined when its model is not loaded. */
  dimensionsOf(incarnation: string): number | undefined {
    return this.#loaded.get(editionOf(incarnation))?.model.dimensions;
  }

  /** @throws MemoryError as `Embedder.embed`; `unavailable` also when the edition's model is not loaded in time. */
  async embed(edition: Edition, input: EmbedInput): Promise<Embedding> {
    const embedder = this.#loaded.get(edition) ?? (await this.#arrival(edition, input.signal));
    return embedder.embed(input);
  }

  async #arrival(edition: Edition, signal: AbortSignal | undefined): Promise<Embedder> {
    await this.refresh();
    await this.#until(() => !this.#awaited.has(edition), signal);
    const embedder = this.#loaded.get(edition);
    if (embedder === undefined) throw unavailable("the model is not loaded yet");
    return embedder;
  }

  #settle(edition: Edition): void {
    this.#awaited.delete(edition);
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
