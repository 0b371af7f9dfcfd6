import { systemClock } from "../concurrency/clock.js";
import type { Config } from "../config/config.js";
import { type OpenEmbedder, withQueryCache } from "../embedding/embedder.js";
import type { Pooling } from "../embedding/encode/convention.js";
import { describeModel } from "../embedding/models/families.js";
import { type EmbedderOptions, openEmbedder } from "../embedding/open.js";
import { ModelVersions } from "../memory/models/model-versions.js";
import { modelFor, Pins, pinned } from "../memory/models/pin.js";
import type { StreamPorts } from "../memory/operations/stream/open-streams.js";
import type { SystemRecords } from "../memory/ports/model-version.js";
import { Moving } from "../memory/reembedding/moving.js";
import { type Context, warn } from "./context.js";

type Waiting = ReturnType<OpenEmbedder["waiting"]>;
type Opening = Pick<EmbedderOptions, "model" | "isAlone" | "revision" | "settings" | "signal">;

/**
 * Opens the model that the database is pinned to; for an empty database, the one that is set.
 *
 * @param stopping aborted when the program is to end, which a download would hold up for as long as it takes
 * @throws the reason of `stopping`, if that ends a download
 */
export async function openModelVersions(
  context: Context,
  {
    systemRecords,
    running,
    stopping,
  }: { systemRecords: SystemRecords; running(): number; stopping: AbortSignal },
): Promise<{ modelVersions: ModelVersions; first: OpenEmbedder }> {
  const { config, logger, closers, telemetry, models: opened } = context;
  let present = () => "";
  const servers = watchServers(context, () => present());
  const openModel = async ({ model, ...options }: Opening): Promise<OpenEmbedder> => {
    const embedder = await openEmbedder({
      ...modelOf(config, model),
      ...options,
      workers: config.embedWorkers,
      onTrouble: warn(context)("embedder", "embedding"),
      onRequest: telemetry.embedServerRequest,
      onAway: (failure) => servers.note(model, failure),
    });
    const cached = withQueryCache(embedder, { bytesMax: config.queryCacheBytesMax });
    opened.add(embedder);
    return {
      ...cached,
      embed: telemetry.embed(cached),
      close: async () => {
        opened.delete(embedder);
        await cached.close();
        servers.forget(model);
      },
    };
  };
  const models = await systemRecords.models();
  const first = await openModel({
    model: modelFor(config.model, models),
    revision: models.at(-1)?.model.revision,
    // For the first model alone: to load one on the main thread holds it for up to a tenth of a second.
    isAlone: () => running() <= 1,
    signal: stopping,
  });
  closers.push(() => first.close());
  const pins = new Pins(await pinned(systemRecords, { model: first.model, models }));
  if (first.model.id !== config.model) {
    logger.warn(`the database is pinned to another model than before: set MODEL=${first.model.id}`);
  }
  const modelVersions = new ModelVersions(pins, first, {
    systemRecords,
    clock: systemClock,
    openModel: ({ id, revision, pooling = "mean", passagePrefix = "" }) => {
      // For a model that is not the one in the settings, the database says how it is read.
      const settings = { pooling: pooling as Pooling, passagePrefix };
      return openModel({ model: id, revision, ...(id !== config.model && { settings }) });
    },
    onTrouble: warn(context)("reembedding", "loading a model of the database; it is tried again"),
  });
  closers.push(() => modelVersions.close());
  present = () => modelVersions.pins.present.model.id;
  return { modelVersions, first };
}

/**
 * Follows the embedding servers of remote models. The process is not ready while that of the pinned model is away: of
 * another model, only the namespaces that are still to be moved wait for it.
 */
export function watchServers(
  { logger, telemetry, readiness }: Pick<Context, "logger" | "telemetry" | "readiness">,
  present: () => string,
) {
  const away = new Set<string>();
  const show = () => {
    // Set even without a change of the server: another model may have been pinned in between.
    readiness.setAway("embedding server", away.has(present()));
    telemetry.metrics?.embedServerAvailable.set(away.size > 0 ? 0 : 1);
  };
  return {
    /** Notes that a model's server is away, and why, or that it is back. */
    note: (model: string, failure: unknown) => {
      const isChange = away.has(model) === (failure === undefined);
      if (failure === undefined) away.delete(model);
      else away.add(model);
      show();
      if (!isChange) return;
      if (failure === undefined) logger.info({ model }, "the embedding server is back");
      else logger.error({ model, err: failure }, "the embedding server is away");
    },
    /** Forgets the server of a model that was closed: nothing probes any more whether it is back. */
    forget: (model: string) => {
      if (away.delete(model)) show();
    },
  };
}

export function describeNewest(modelVersions: ModelVersions) {
  const model = modelVersions.pins.modelOf(modelVersions.newest);
  return model && describeModel(model.id);
}

/** Texts that wait for a thread of a model: while the model is changed, of the one with more. */
export function longest(models: Context["models"]): Waiting {
  const waiting = [...models].map((model) => model.waiting());
  return {
    query: Math.max(0, ...waiting.map(({ query }) => query)),
    text: Math.max(0, ...waiting.map(({ text }) => text)),
  };
}

/** Follows the model that the database is pinned to, and moves its namespaces there. */
export function startReembedding(context: Context, memory: StreamPorts): void {
  const { logger, closers } = context;
  const moving = new Moving({
    ...memory,
    onTrouble: warn(context)("reembedding", "moving namespaces to another model; it is tried again"),
    onMoved: ({ id }, namespaces) => logger.info({ model: id, namespaces }, "moved to the pinned model"),
  });
  closers.push(() => moving.close());
  moving.start();
}

/** Returns where a model is, and how it is read. */
export function modelOf(config: Config, model: string) {
  const { modelsDir, modelsHub, modelPooling, modelQueryPrefix, modelPassagePrefix } = config;
  const settings = {
    pooling: modelPooling,
    queryPrefix: modelQueryPrefix,
    passagePrefix: modelPassagePrefix,
  };
  // The settings are about the model that is set, not about the one that a database has in its place.
  return { model, modelsDir, hub: modelsHub, remote: config, ...(model === config.model && { settings }) };
}
