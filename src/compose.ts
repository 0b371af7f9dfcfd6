import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import { openGate } from "./accounts/authenticate.js";
import { UsageCounter } from "./accounts/count-usage.js";
import { LastUsed } from "./accounts/last-used.js";
import { builtInPlans, FREE, type Plans } from "./accounts/plan.js";
import { parsePlans } from "./accounts/plans-file.js";
import { charge, getAccount } from "./accounts/quota.js";
import type { Config } from "./config.js";
import type { FoundConvention } from "./embedding/find-convention.js";
import { type OpenEmbedder, openEmbedder } from "./embedding/open.js";
import { packageRoot } from "./embedding/package-root.js";
import { withQueryCache } from "./embedding/query-cache.js";
import { WAITING_MAX as EMBEDDING_MAX } from "./embedding/waiting.js";
import { MemoryError, unavailable } from "./errors.js";
import { WAITING_MAX as APPENDING_MAX } from "./memory/appender.js";
import { systemClock } from "./memory/clock.js";
import { dropAll } from "./memory/drop-all.js";
import type { Edition } from "./memory/edition.js";
import { Editions } from "./memory/editions.js";
import type { ModelIdentity } from "./memory/embedder.js";
import { admit } from "./memory/format.js";
import { Maps } from "./memory/map.js";
import type { Meter } from "./memory/meter.js";
import { latestOf, Migrating } from "./memory/migrating.js";
import { Mover } from "./memory/mover.js";
import { parseNamespace } from "./memory/namespace.js";
import { Namespaces } from "./memory/namespaces.js";
import { Once } from "./memory/once.js";
import { editionFor, modelFor } from "./memory/pin.js";
import { Reembedding } from "./memory/reembedding.js";
import { keepSweeping } from "./memory/sweeping.js";
import type { Vectors } from "./memory/vectors.js";
import { warm } from "./memory/warm.js";
import { Operator, type Request as OperatorRequest, operate } from "./operator/operations.js";
import { createApp } from "./server/app.js";
import { drain, type Leave } from "./server/drain.js";
import { listen } from "./server/listen.js";
import { Load } from "./server/load.js";
import type { MemoryPorts } from "./server/memory-service.js";
import { createMetricsApp } from "./server/metrics.js";
import { loadPortal } from "./server/portal-files.js";
import { Readiness } from "./server/readiness.js";
import { readTls } from "./server/tls.js";
import { findLocalOwner, hasLocal, openLocal, openLocalFacts } from "./storage/local/open.js";
import type { Answering } from "./storage/local/request.js";
import { openMongo } from "./storage/mongo/open.js";
import type { Storage } from "./storage/storage.js";
import { StorageWatch } from "./storage/watch.js";
import { within } from "./storage/within.js";
import type { Part } from "./telemetry/metrics.js";
import { Telemetry } from "./telemetry/telemetry.js";
import { WAITING_MAX as INDEXING_MAX } from "./vectors/hnsw.js";
import { ThreadProjector } from "./vectors/projector.js";
import { openUsearch } from "./vectors/usearch.js";
import { VERSION } from "./version.js";

/** How often what was counted behind the calls is written. */
const FLUSH_MS = 5_000;

/** From the last call's end: for what is counted, snapshots and the database to be written and closed. */
const CLOSE_TIMEOUT_MS = 30_000;

/** A running service. */
export interface Service {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly address: string;
  /** Of `/metrics`, where `METRICS_PORT` asks for it. */
  readonly metricsAddress: string | undefined;
  readonly model: ModelIdentity;
  /** How the model reads texts, and who says so. */
  readonly convention: FoundConvention;
  /** Finishes what runs, flushes and closes. */
  close(leave: Leave): Promise<void>;
}

type Closers = (() => unknown)[];

export interface ServiceOptions {
  readonly logger: FastifyBaseLogger;
  /** Aborted when the program is to end, maybe before it has started. */
  readonly stopping: AbortSignal;
  /** Told when another program has made the database too new for this one, which must end. */
  onTooNew(error: unknown): void;
}

/** Builds the house from its settings: the only place that names concrete adapters. */
export async function openService(config: Config, options: ServiceOptions): Promise<Service> {
  const closers: Closers = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const { leave, ...house } = await openHouse(config, { ...options, closers });
    const close = async (how: Leave) => {
      await leave(how);
      options.logger.info({ phase: "flush" }, "stopping");
      await within(CLOSE_TIMEOUT_MS, closeAll());
    };
    return { ...house, close };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function openHouse(config: Config, options: ServiceOptions & { closers: Closers }) {
  const { logger, closers } = options;
  const tls = config.tls && (await readTls(config.tls));
  const plans = await readPlans(config);
  const telemetry = await openTelemetry(config, logger);
  closers.push(() => telemetry.close());
  const operator = new Operator();
  const answer = (request: OperatorRequest) => {
    logger.info({ operation: request.operation }, "the operator asks");
    return operator.answer(request);
  };
  const storage = await openStorage(config, { answer });
  closers.push(() => storage.close());
  openMigrating({ ...options, storage });
  const { facts } = storage;
  const plan = (await facts.plan())?.plan;
  const pinned = await facts.pinned();
  const models: Models = new Set();
  const common = { config, logger, telemetry, models };
  const embedder = await openModel(modelFor(config.model, { pinned, plan }), common);
  closers.push(() => embedder.close());
  const edition = await editionFor(facts, { model: embedder.model, plan });
  if (embedder.model.id !== config.model) {
    logger.warn(`the database's model was changed: set MODEL=${embedder.model.id}`);
  }
  const editions = new Editions(edition, embedder);
  const readiness = new Readiness();
  const counting = openCounting(storage, { logger, closers, readiness, telemetry });
  const memory = openMemory(config, { ...options, storage, editions, meter: counting.meter, telemetry });
  await openReembedding({ ...common, closers, storage, memory, first: { edition, model: embedder } });
  const sayPhase = (phase: string) => logger.info({ phase }, "stopping");
  const shutdown = new AbortController();
  // One listener for each running call: that many are no leak.
  setMaxListeners(0, shutdown.signal);
  const { accounts, backUp } = storage;
  const accountPorts = {
    accounts,
    signUp: config.signUp,
    freeCalls: plans.get(FREE).calls,
    usage: counting.usage,
    parseNamespace,
    eraseMemories: (accountId: string) => dropAll(memory, accountId),
  };
  operator.open({ ...accountPorts, plans, backUp });
  const load = new Load(() => sharesOf(longest(models)));
  closers.push(() => load.close());
  const app = createApp({
    memory,
    accounts: accountPorts,
    plans,
    load,
    authenticate: openGate({ accounts, onUse: (caller) => counting.lastUsed.note(caller) }),
    readiness,
    logger,
    shutdownSignal: shutdown.signal,
    portal: await loadPortal(join(packageRoot(), "dist/web")),
    signUps: { perHour: config.signUpsPerHour, perHourTotal: config.signUpsPerHourTotal },
    trustedProxies: config.trustedProxies,
    connections: {
      connectionsMax: config.connectionsMax,
      connectionsPerAddressMax: config.connectionsPerAddressMax,
    },
    corsOrigins: config.corsOrigins,
    onCall: telemetry.begin,
    tls,
  });
  telemetry.watch({
    ready: () => readiness.now(),
    held: () => memory.namespaces.measure(),
    indexMemoryBytesMax: config.indexMemoryBytesMax,
    models: () => editions.models,
    embedding: () => longest(models),
    queueLimits: {
      embed_query: EMBEDDING_MAX,
      embed_text: EMBEDDING_MAX,
      append: APPENDING_MAX,
      index: INDEXING_MAX,
    },
  });
  const metricsAddress = await listenForMetrics(config, { logger, closers, telemetry });
  const address = await listen(app, config);
  const draining = { readiness, shutdown, timeoutMs: config.shutdownTimeoutMs, onPhase: sayPhase };
  // When the start fails further on, nobody has called `leave`.
  const abandon = () => drain(app, draining, { noticeMs: 0, hastened: AbortSignal.abort() });
  closers.push(() => (readiness.leaving ? undefined : abandon()));
  await warm({
    recent: storage.recent,
    namespaces: memory.namespaces,
    clock: systemClock,
    stopping: options.stopping,
    onProgress: (done, of) => logger.debug({ done, of }, "warming"),
  });
  readiness.set(true);
  const leave = (how: Leave) => drain(app, draining, how);
  return { address, metricsAddress, model: embedder.model, convention: embedder.convention, leave };
}

function openTelemetry(config: Config, logger: FastifyBaseLogger): Promise<Telemetry> {
  return Telemetry.open({
    version: VERSION,
    metrics: config.metricsPort !== undefined,
    tracing: config.otlpEndpoint !== undefined,
    onTrouble: (reason) => logger.warn({ reason }, "tracing"),
  });
}

/** On a port of its own; answers the address of `/metrics`. */
async function listenForMetrics(
  { host, metricsPort }: Config,
  { logger, closers, telemetry }: { logger: FastifyBaseLogger; closers: Closers; telemetry: Telemetry },
): Promise<string | undefined> {
  const { exposition } = telemetry;
  if (metricsPort === undefined || exposition === undefined) return undefined;
  const app = createMetricsApp({ exposition, logger });
  closers.push(() => app.close());
  return `${await listen(app, { host, port: metricsPort, setting: "METRICS_PORT" })}/metrics`;
}

/** Notes a failure that calls do not see. */
function warn({ logger, telemetry }: { logger: FastifyBaseLogger; telemetry: Telemetry }) {
  return (part: Part, message: string) => (error: unknown) => {
    telemetry.trouble(part);
    logger.warn({ err: error }, message);
  };
}

/** Who counts: calls against the plan, calls for the owner's eyes, and when keys were used. */
function openCounting(
  storage: Storage,
  {
    logger,
    closers,
    readiness,
    telemetry,
  }: { logger: FastifyBaseLogger; closers: Closers; readiness: Readiness; telemetry: Telemetry },
) {
  const { accounts } = storage;
  const onTrouble = warn({ logger, telemetry });
  const usage = new UsageCounter(storage.usage, {
    everyMs: FLUSH_MS,
    onTrouble: onTrouble("usage", "usage is not written; it is tried again"),
  });
  closers.push(() => usage.close());
  const lastUsed = new LastUsed(accounts, {
    everyMs: FLUSH_MS,
    onTrouble: onTrouble("last_used", "when keys were last used is not written"),
  });
  closers.push(() => lastUsed.close());
  const watch = new StorageWatch(storage, (away) => {
    logger[away ? "error" : "info"](away ? "the database is away" : "the database is back");
    telemetry.storageIsAway(away);
    readiness.set(!away);
  });
  closers.push(() => watch.close());
  const meter: Meter = {
    charge: async (caller) => {
      watch.expectThere();
      await charge(accounts, caller);
    },
    verify: async (caller) => {
      watch.expectThere();
      await getAccount(accounts, caller);
    },
    refund: ({ accountId }) =>
      accounts.refund(accountId).then(
        () => telemetry.refunded("refunded"),
        (error) => {
          telemetry.refunded("refund_failed");
          logger.warn({ err: error, accountId }, "a call that failed stays paid");
        },
      ),
    count: ({ accountId }, call) => usage.count(accountId, call),
  };
  return { usage, lastUsed, meter: telemetry.meter(meter) };
}

/** The models that are open. */
type Models = Set<OpenEmbedder>;

interface ModelOptions {
  readonly config: Config;
  readonly logger: FastifyBaseLogger;
  readonly telemetry: Telemetry;
  readonly models: Models;
}

async function openModel(
  model: string,
  { config, logger, telemetry, models }: ModelOptions,
): Promise<OpenEmbedder> {
  const { settings, ...named } = modelOf(config);
  const embedder = await openEmbedder({
    ...named,
    model,
    // They are about the model that is set, not about the one that a database has in its place.
    ...(model === named.model && { settings }),
    workers: config.embedWorkers,
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
    close: async () => {
      models.delete(embedder);
      await cached.close();
    },
  };
}

/** What waits for a thread of one model; while the database changes its model, of the one with more. */
function longest(models: Models): OpenEmbedder["waiting"] {
  const waiting = [...models].map((model) => model.waiting);
  return {
    query: Math.max(0, ...waiting.map(({ query }) => query)),
    text: Math.max(0, ...waiting.map(({ text }) => text)),
  };
}

/** Of each of the model's queues, how much is taken. */
function sharesOf({ query, text }: OpenEmbedder["waiting"]): OpenEmbedder["waiting"] {
  return { query: query / EMBEDDING_MAX, text: text / EMBEDDING_MAX };
}

/** Follows the plan to change the database's model, when there is one. */
async function openReembedding({
  storage,
  memory,
  first,
  closers,
  ...options
}: ModelOptions & {
  storage: Storage;
  memory: OpenMemory;
  first: { edition: Edition; model: OpenEmbedder };
  closers: Closers;
}): Promise<void> {
  const reembedding = new Reembedding(
    {
      ...memory,
      facts: storage.facts,
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

/** Follows the database's format, and raises it. */
function openMigrating({
  storage,
  logger,
  closers,
  onTooNew,
}: ServiceOptions & { storage: Storage; closers: Closers }): void {
  const { formats, migrations, exclusive } = storage;
  const migrating = new Migrating({
    ...{ formats, migrations, exclusive, onTooNew },
    program: VERSION,
    clock: systemClock,
    onTrouble: (error) => logger.warn({ err: error }, "raising the database's format; it is tried again"),
    onRaised: (version) => logger.info({ version }, "the database's format is raised"),
  });
  closers.push(() => migrating.close());
  migrating.start();
}

interface MemoryOptions extends ServiceOptions {
  readonly storage: Storage;
  readonly editions: Editions;
  readonly meter: Meter;
  readonly closers: Closers;
  readonly telemetry: Telemetry;
}

type OpenMemory = MemoryPorts & { readonly namespaces: Namespaces; readonly mover: Mover };

/** The room with all it stands on. */
function openMemory(
  config: Config,
  { storage, editions, meter, logger, closers, telemetry }: MemoryOptions,
): OpenMemory {
  const onTrouble = warn({ logger, telemetry });
  const clock = systemClock;
  const { log, claims, erasures, recent, exclusive } = storage;
  const vectors = openVectors(config, (incarnation) => editions.dimensionsOf(incarnation));
  const mover = new Mover({ log, erasures, editions, clock });
  const namespaces = new Namespaces({
    log,
    editions,
    mover,
    clock,
    vectors,
    recent,
    indexMemoryBytesMax: config.indexMemoryBytesMax,
    steps: telemetry.steps,
    onCaughtUp: (entries) => telemetry.caughtUp(entries),
    onLost: (incarnation, { sequence, entry }) => {
      telemetry.lostEntry();
      logger.error({ incarnation, sequence, reason: entry.reason }, "an entry of the log is lost");
    },
    onTrouble: onTrouble("index", "index upkeep"),
  });
  closers.push(() => namespaces.close());
  const once = new Once({ claims, log, clock, exclusive });
  const projector = new ThreadProjector();
  closers.push(() => projector.close());
  const maps = new Maps({ log, projector, clock });
  const memory = { editions, mover, namespaces, meter, log, erasures, vectors, once, maps, clock };
  closers.push(
    keepSweeping(memory, {
      onSwept: (finished) => logger.info({ finished }, "swept"),
      onTrouble: onTrouble("sweeping", "sweeping failed; it is tried again in a minute"),
    }),
  );
  return memory;
}

/** The model that the settings name, and what they say of it. */
export function modelOf(config: Config) {
  const { model, modelsDir, modelsHub, modelPooling, modelQueryPrefix, modelPassagePrefix } = config;
  const settings = {
    pooling: modelPooling,
    queryPrefix: modelQueryPrefix,
    passagePrefix: modelPassagePrefix,
  };
  return { model, modelsDir, hub: modelsHub, settings };
}

/**
 * The facts of the database that the settings name, also while services use it.
 *
 * @throws MemoryError as `openStorage`
 */
export function openFacts({ mongodbUri, dataDir }: Config): Promise<Pick<Storage, "facts" | "close">> {
  return mongodbUri === undefined
    ? admitted(openLocalFacts({ dataDir }))
    : admitted(openMongo({ uri: mongodbUri }));
}

/** Only a database that this program can read and write is handed on. */
async function admitted<T extends Pick<Storage, "formats" | "migrations" | "close">>(opening: Promise<T>) {
  const storage = await opening;
  try {
    await admit(storage.formats, { known: latestOf(storage.migrations), program: VERSION });
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** The plans that the settings name. @throws MemoryError `failed_precondition`, naming the file and the field. */
export async function readPlans({ plansFile, freeCalls }: Config): Promise<Plans> {
  if (plansFile === undefined) return builtInPlans(freeCalls);
  const text = await readFile(plansFile, "utf8").catch((cause) => {
    const message = `PLANS_FILE ${plansFile} cannot be read: ${cause.message}`;
    throw new MemoryError("failed_precondition", message, { cause });
  });
  return parsePlans(text, plansFile);
}

/**
 * Opens the database that the settings name.
 *
 * @throws MemoryError `failed_precondition` when it is too new for this program, in use, or cannot be used.
 */
export function openStorage(
  { mongodbUri, dataDir }: Config,
  { answer }: { answer?: Answering } = {},
): Promise<Storage> {
  return admitted(mongodbUri === undefined ? openLocal({ dataDir, answer }) : openMongo({ uri: mongodbUri }));
}

/** How the operator's commands reach the database that the settings name. */
export interface Desk {
  readonly ask: Answering;
  close(): Promise<void>;
}

/**
 * By way of the server that owns the embedded database, if one does; else the database is opened here.
 *
 * @throws MemoryError `failed_precondition` when there is none, unless the command is to make one.
 */
export async function openDesk(config: Config, { creates }: { creates: boolean }): Promise<Desk> {
  const { mongodbUri, dataDir } = config;
  if (mongodbUri === undefined && (!creates || (await hasLocal({ dataDir })))) {
    const ask = await findLocalOwner({ dataDir });
    if (ask !== undefined) return { ask, close: async () => {} };
  }
  const plans = await readPlans(config);
  const storage = await openStorage(config);
  const { accounts, usage, backUp } = storage;
  const eraseMemories = (accountId: string) => eraseUnopened(config, { storage, accountId });
  const freeCalls = plans.get(FREE).calls;
  const ports = { accounts, usage, plans, parseNamespace, eraseMemories, backUp, freeCalls };
  return { ask: async (request) => operate(ports, request), close: () => storage.close() };
}

/** Erases an account's memories where no service runs that has their namespaces open, and no model is loaded. */
async function eraseUnopened(
  config: Config,
  { storage, accountId }: { storage: Storage; accountId: string },
): Promise<number> {
  const pinned = await storage.facts.pinned();
  if (pinned === undefined) return 0;
  const embed = () => Promise.reject(unavailable("the operator's commands load no model"));
  const editions = new Editions(pinned.edition, { model: pinned.model, embed });
  const plan = (await storage.facts.plan())?.plan;
  if (plan !== undefined) editions.known = new Set([pinned.edition, plan.edition]);
  const { log, erasures, recent } = storage;
  const clock = systemClock;
  const vectors = openVectors(config, (incarnation) => editions.dimensionsOf(incarnation));
  const mover = new Mover({ log, erasures, editions, clock });
  // What upkeep fails at here the next server does again.
  const onTrouble = () => {};
  const { indexMemoryBytesMax } = config;
  const common = { log, editions, clock, vectors };
  const namespaces = new Namespaces({ ...common, mover, recent, indexMemoryBytesMax, onTrouble });
  const meter: Meter = { charge: nothing, verify: nothing, refund: nothing, count: () => {} };
  try {
    return await dropAll({ ...common, erasures, namespaces, meter }, accountId);
  } finally {
    await namespaces.close();
  }
}

/** Whoever asks for nothing but an erasure pays nothing. */
async function nothing(): Promise<void> {}

export function openVectors(
  { dataDir }: Config,
  dimensionsOf: (incarnation: string) => number | undefined,
): Vectors {
  return openUsearch({ dimensionsOf, snapshotsDir: join(dataDir, "snapshots") });
}
