import type { Clock } from "../../concurrency/clock.js";
import { coalesce } from "../../concurrency/coalesce.js";
import { failedPrecondition, unavailable } from "../../errors.js";
import type { Embedder, Embedding, EmbedInput, ModelIdentity } from "../ports/embedder.js";
import type { ModelVersion, SystemRecords } from "../ports/model-version.js";
import { describe, isSame, Pins } from "./pin.js";

/** Time that a call waits for a model that is being loaded. */
const LOADING_TIMEOUT_MS = 20_000;
/** Time after a failure to load a model in which it is not tried again. */
const RETRY_MS = 30_000;
/** Time for which a model that is not the pinned one is kept without use. */
const IDLE_MS = 300_000;
/** Share of a text that the model may fail to read without anybody being told. */
const UNREAD_SHARE_TOLD = 0.5;

export interface OpenModel extends Embedder {
  close(): Promise<void>;
}

export interface ModelVersionsOptions {
  readonly systemRecords: Pick<SystemRecords, "models">;
  readonly clock: Clock;
  /** Loads a model that a database has, of whichever revision there is. */
  openModel(model: ModelIdentity): Promise<OpenModel>;
  /** Called when a model cannot be loaded or closed. */
  onTrouble(error: unknown): void;
}

/** A model that is loaded, being loaded, or that could not be loaded a short time ago. */
interface Loading {
  readonly identity: ModelIdentity;
  /** Resolves to undefined if it could not be loaded. */
  readonly opened: Promise<OpenModel | undefined>;
  model?: OpenModel;
  failed?: boolean;
  /** Number of texts that it reads now. */
  users: number;
  /** Time when it was used last, or when it could not be loaded. */
  atMs: number;
}

/**
 * The models that a database was pinned to, by the model version of the logs that have their vectors. The pinned one is
 * loaded ahead, any other when a call meets a log of it.
 */
export class ModelVersions {
  /**
   * Reads the database's models as they are when this is called, or later: another process may be ahead. It begins
   * to load the pinned one, and closes those that nobody uses any more.
   */
  readonly refresh = coalesce(async () => {
    const models = await this.options.systemRecords.models();
    if (models.length > 0) this.pins = new Pins(models);
    this.#loadingOf(this.pins.present.model);
    this.#closeIdle();
  });
  #loading: Loading[] = [];

  /** @param first a model that is loaded already */
  constructor(
    public pins: Pins,
    first: OpenModel | undefined,
    private readonly options: ModelVersionsOptions,
  ) {
    if (first === undefined) return;
    const [identity, opened] = [first.model, Promise.resolve(first)];
    this.#loading.push({ identity, opened, model: first, users: 0, atMs: options.clock.nowMs() });
  }

  /** Model version of new namespaces: the last one whose model is loaded. */
  get newest(): ModelVersion {
    const { all, present } = this.pins;
    return (all.findLast(({ model }) => this.#loaded(model)) ?? present).modelVersion;
  }

  get models(): ModelIdentity[] {
    return this.#loading.flatMap(({ model }) => model?.model ?? []);
  }

  /** True if a model is loaded. */
  has(modelVersion: ModelVersion): boolean {
    const model = this.pins.modelOf(modelVersion);
    return model !== undefined && this.#loaded(model) !== undefined;
  }

  /**
   * Finds a model version's model, and asks the database if this process does not know it.
   *
   * @throws MemoryError `unavailable` if the database does not know it either.
   */
  async find(modelVersion: ModelVersion): Promise<ModelIdentity> {
    if (this.pins.modelOf(modelVersion) === undefined) await this.refresh();
    const found = this.pins.modelOf(modelVersion);
    if (found === undefined) throw unavailable(`the database knows no model ${modelVersion}`);
    return found;
  }

  /** @throws MemoryError as `Embedder.embed`; `unavailable` also if the model is not loaded in time. */
  async embed(modelVersion: ModelVersion, input: EmbedInput): Promise<Embedding> {
    const loading = this.#loadingOf(await this.find(modelVersion));
    loading.users++;
    try {
      const model = loading.model ?? (await this.#arrival(loading, input.signal));
      return await model.embed(input);
    } finally {
      loading.users--;
      // However many ask for a model that could not be loaded, it is tried again after a time.
      if (!loading.failed) loading.atMs = this.options.clock.nowMs();
    }
  }

  /** Share of a text that the newest model can hardly read; undefined if it reads at least half of it. */
  unreadShare(text: string): number | undefined {
    const model = this.pins.modelOf(this.newest);
    const share = (model && this.#loaded(model)?.unreadShare(text)) ?? 0;
    return share > UNREAD_SHARE_TOLD ? share : undefined;
  }

  async close(): Promise<void> {
    for (const { model, opened } of this.#loading) {
      if (model !== undefined) await model.close();
      // A download may take long, and nobody waits for it any more.
      else void opened.then((late) => late?.close());
    }
  }

  #loaded(identity: ModelIdentity): OpenModel | undefined {
    return this.#loading.find((each) => isSame(each.identity, identity))?.model;
  }

  /** Finds a model, or begins to load it. */
  #loadingOf(identity: ModelIdentity): Loading {
    const { clock, onTrouble } = this.options;
    const found = this.#loading.find((each) => isSame(each.identity, identity));
    if (found !== undefined && !(found.failed && clock.nowMs() - found.atMs > RETRY_MS)) return found;
    this.#loading = this.#loading.filter((each) => each !== found);
    const opened = this.#open(identity).then(
      (model) => {
        loading.model = model;
        loading.atMs = clock.nowMs();
        return model;
      },
      (error) => {
        onTrouble(error);
        loading.failed = true;
        loading.atMs = clock.nowMs();
        return undefined;
      },
    );
    const loading: Loading = { identity, opened, users: 0, atMs: clock.nowMs() };
    this.#loading.push(loading);
    return loading;
  }

  async #open(identity: ModelIdentity): Promise<OpenModel> {
    const model = await this.options.openModel(identity);
    if (isSame(model.model, identity)) return model;
    await model.close();
    const [wanted, found] = [identity, model.model].map(describe);
    throw failedPrecondition(`the database has vectors of ${wanted}, but here is ${found}`);
  }

  /** Waits for a model to be loaded. @throws the signal's reason if it is aborted */
  async #arrival({ identity, opened, failed }: Loading, signal?: AbortSignal): Promise<OpenModel> {
    if (failed) throw unavailable(`the model ${identity.id} cannot be loaded here now`);
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      if (signal?.aborted) reject(signal.reason);
    });
    const late = this.options.clock.sleep(LOADING_TIMEOUT_MS);
    const model = await Promise.race([opened, late, aborted]);
    if (model === undefined) throw unavailable(`the model ${identity.id} is not loaded yet`);
    return model as OpenModel;
  }

  #closeIdle(): void {
    const nowMs = this.options.clock.nowMs();
    this.#loading = this.#loading.filter(({ identity, model, users, atMs }) => {
      const isIdle = users === 0 && nowMs - atMs > IDLE_MS && !isSame(identity, this.pins.present.model);
      if (model === undefined || !isIdle) return true;
      model.close().catch(this.options.onTrouble);
      return false;
    });
  }
}
