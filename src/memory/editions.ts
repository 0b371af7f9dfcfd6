import { unavailable } from "../errors.js";
import { type Edition, editionOf, inEdition } from "./edition.js";
import type { Embedder, Embedding, EmbedInput } from "./embedder.js";

/** How long a call waits for a model that another replica has begun to use before this one. */
const LOADING_TIMEOUT_MS = 20_000;

/** The models that this process has loaded, by edition: one, or two while the database changes its model. */
export class Editions {
  /** Namespaces that come into being get this one. */
  newest: Edition;
  /** All in which a log may be: also one that is not loaded yet, and one that is not erased yet. */
  known: ReadonlySet<Edition>;
  /** Looks up in the database which editions there are now: another replica may be ahead. */
  refresh: () => Promise<void> = async () => {};
  /** Those that are being loaded. */
  readonly awaited = new Set<Edition>();
  readonly #loaded = new Map<Edition, Embedder>();
  readonly #waiting = new Set<() => void>();

  constructor(edition: Edition, embedder: Embedder) {
    this.newest = edition;
    this.known = new Set([edition]);
    this.#loaded.set(edition, embedder);
  }

  /** The log and its copies, also such as may not be there. */
  familyOf(incarnation: string): string[] {
    return [...this.known].map((edition) => inEdition(incarnation, edition));
  }

  /** Whether a log is of a model that the database has done with, so that it must move before it is used. */
  async isOutdated(incarnation: string): Promise<boolean> {
    const edition = editionOf(incarnation);
    if (edition === this.newest || this.#loaded.has(edition)) return false;
    await this.refresh();
    return !this.#loaded.has(edition) && !this.awaited.has(edition);
  }

  has(edition: Edition): boolean {
    return this.#loaded.has(edition);
  }

  add(edition: Edition, embedder: Embedder): void {
    this.awaited.delete(edition);
    this.#loaded.set(edition, embedder);
    for (const wake of this.#waiting) wake();
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
    const timeout = AbortSignal.timeout(LOADING_TIMEOUT_MS);
    const ended = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    await this.refresh();
    return new Promise((resolve, reject) => {
      const settle = () => {
        const embedder = this.#loaded.get(edition);
        if (embedder === undefined && !ended.aborted) return;
        this.#waiting.delete(settle);
        if (embedder !== undefined) resolve(embedder);
        else reject(signal?.aborted ? signal.reason : unavailable("the model is being loaded"));
      };
      this.#waiting.add(settle);
      ended.addEventListener("abort", settle, { once: true });
      settle();
    });
  }
}
