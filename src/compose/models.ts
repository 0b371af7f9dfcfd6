import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config/config.js";
import { describeModel, type ModelDescription } from "../embedding/convention/describe-model.js";
import { type EmbedderOptions, type OpenEmbedder, openEmbedder } from "../embedding/open.js";
import { WAITING_MAX as EMBEDDING_MAX } from "../embedding/pool/embed-queue.js";
import { withQueryCache } from "../embedding/query-cache.js";
import type { Generations } from "../memory/generations/generations.js";
import { generationFor, modelFor } from "../memory/model-change/pin.js";
import { Reembedding } from "../memory/model-change/reembedding.js";
import type { Generation } from "../memory/ports/generation.js";
import type { SystemRecords } from "../memory/ports/plan.js";
import type { Storage } from "../storage/storage.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import type { CallsInFlight } from "./calls-in-flight.js";
import type { Closers } from "./closers.js";
import type { OpenMemory } from "./memory.js";
import { warn } from "./warn.js";

/** Models that are open. */
export type Models = Set<OpenEmbedder>;

interface ModelOptions {
  readonly config: Config;
  readonly logger: FastifyBaseLogger;
  readonly telemetry: Telemetry;
  readonly models: Models;
}

interface FirstModelOptions extends ModelOptions {
  readonly closers: Closers;
  readonly calls: CallsInFlight;
}

/** Opens the model that the database holds vectors of; for an empty database, the one that is set. */
export async function openFirstModel(
  systemRecords: SystemRecords,
  { closers, calls, ...options }: FirstModelOptions,
): Promise<{ generation: Generation; model: OpenEmbedder }> {
  const { config, logger } = options;
  const plan = (await systemRecords.plan())?.plan;
  const model = await openModel(
    modelFor(config.model, { pinned: await systemRecords.pinned(), plan }),
    // Only here: loading on the main thread holds it for up to a tenth of a second, and nobody is served yet.
    { ...options, isAlone: () => calls.count <= 1 },
  );
  closers.push(() => model.close());
  const generation = await generationFor(systemRecords, { model: model.model, plan });
  if (model.model.id !== config.model) {
    logger.warn(`the database's model was changed: set MODEL=${model.model.id}`);
  }
  return { generation, model };
}

export async function openModel(
  model: string,
  { config, logger, telemetry, models, isAlone }: ModelOptions & Pick<EmbedderOptions, "isAlone">,
): Promise<OpenEmbedder> {
  const { settings, ...named } = modelOf(config);
  const embedder = await openEmbedder({
    ...named,
    model,
    // The settings are about the model that is set, not about the one that a database has in its place.
    ...(model === named.model && { settings }),
    workers: config.embedWorkers,
    isAlone,
    onTrouble: warn({ logger, telemetry })("embedder", "embedding"),
  });
  const cached = withQueryCache(embedder, { bytesMax: config.queryCacheBytesMax });
  models.add(embedder);
  return {
    model: cached.model,
    convention: cached.convention,
    get waiting() {
      return cached.waiting;
    },
    embed: telemetry.embed(cached),
    unreadShare: (text) => cached.unreadShare(text),
    close: async () => {
      models.delete(embedder);
      await cached.close();
    },
  };
}

/** Describes the model that reads new texts, or, until it is loaded here, the one that this process has. */
export function describeNewest(generations: Generations): ModelDescription | undefined {
  const model = generations.modelOf(generations.newest) ?? generations.models[0];
  return model && describeModel(model.id);
}

/** Counts what waits for a thread of one model: during a change of the model, of the one with more. */
export function longest(models: Models): OpenEmbedder["waiting"] {
  const waiting = [...models].map((model) => model.waiting);
  return {
    query: Math.max(0, ...waiting.map(({ query }) => query)),
    text: Math.max(0, ...waiting.map(({ text }) => text)),
  };
}

/** Converts the length of each of the model's queues to a share of its maximum. */
export function sharesOf({ query, text }: OpenEmbedder["waiting"]): OpenEmbedder["waiting"] {
  return { query: query / EMBEDDING_MAX, text: text / EMBEDDING_MAX };
}

/** Follows the plan to change the database's model, when there is one. */
export async function openReembedding({
  storage,
  memory,
  first,
  closers,
  ...options
}: ModelOptions & {
  storage: Storage;
  memory: OpenMemory;
  first: { generation: Generation; model: OpenEmbedder };
  closers: Closers;
}): Promise<void> {
  const reembedding = new Reembedding(
    {
      ...memory,
      systemRecords: storage.systemRecords,
      exclusive: storage.exclusive,
      openModel: (id) => openModel(id, options),
      onTrouble: warn(options)("reembedding", "changing the model; it is tried again"),
      onPhase: (phase) => options.logger.info({ phase: phase ?? "none" }, "changing the model"),
    },
    first,
  );
  closers.push(() => reembedding.close());
  await reembedding.start();
}

/** Reads the model that the settings name, and what they say of it. */
export function modelOf(config: Config) {
  const { model, modelsDir, modelsHub, modelPooling, modelQueryPrefix, modelPassagePrefix } = config;
  const settings = {
    pooling: modelPooling,
    queryPrefix: modelQueryPrefix,
    passagePrefix: modelPassagePrefix,
  };
  return { model, modelsDir, hub: modelsHub, settings };
}
