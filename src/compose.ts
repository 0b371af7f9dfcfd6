import { setMaxListeners } from "node:events";
import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import { openGate } from "./accounts/authenticate.js";
import { FREE } from "./accounts/plan.js";
import type { Closers } from "./compose/closers.js";
import { openCounting } from "./compose/counting.js";
import { openMemory } from "./compose/memory.js";
import { longest, type Models, openModel, openReembedding, sharesOf } from "./compose/models.js";
import { noting } from "./compose/noting.js";
import { readPlans } from "./compose/plans.js";
import { openMigrating, openStorage } from "./compose/storage.js";
import { listenForMetrics, openTelemetry, watchGauges } from "./compose/telemetry.js";
import { warn } from "./compose/warn.js";
import type { Config } from "./config.js";
import type { FoundConvention } from "./embedding/find-convention.js";
import { packageRoot } from "./embedding/package-root.js";
import { dropAll } from "./memory/drop-all.js";
import { Editions } from "./memory/editions.js";
import type { ModelIdentity } from "./memory/embedder.js";
import { parseNamespace } from "./memory/namespace.js";
import { editionFor, modelFor } from "./memory/pin.js";
import { warm } from "./memory/warm.js";
import { Operator } from "./operator/operations.js";
import { createApp } from "./server/app.js";
import { ConnectionCounts } from "./server/connection-counts.js";
import { drain, type Leave } from "./server/drain.js";
import { listen } from "./server/listen.js";
import { Load } from "./server/load.js";
import { loadPortal } from "./server/portal-files.js";
import { Readiness } from "./server/readiness.js";
import { openTls } from "./server/tls.js";
import { within } from "./storage/within.js";

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

export interface ServiceOptions {
  readonly logger: FastifyBaseLogger;
  /** Lines of the log that nobody took. */
  readonly droppedLines: () => number;
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

async function tlsOf({ tls }: Config, { logger, closers }: { logger: FastifyBaseLogger; closers: Closers }) {
  if (tls === undefined) return undefined;
  const opened = await openTls(tls, {
    onRenewed: () => logger.info("the certificate was renewed"),
    onTrouble: (error) => logger.error({ err: error }, "the certificate cannot be renewed"),
  });
  closers.push(() => opened.close());
  return opened.tls;
}

async function openHouse(config: Config, options: ServiceOptions & { closers: Closers }) {
  const { logger, closers } = options;
  const tls = await tlsOf(config, { logger, closers });
  const plans = await readPlans(config);
  const telemetry = await openTelemetry(config, logger);
  closers.push(() => telemetry.close());
  const operator = new Operator();
  const answer = noting(logger, (request) => operator.answer(request));
  const storage = await openStorage(config, { answer, creates: true });
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
  operator.open({ ...accountPorts, plans, facts, backUp });
  const load = new Load(() => sharesOf(longest(models)));
  closers.push(() => load.close());
  const connections = new ConnectionCounts();
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
    connectionCounts: connections,
    corsOrigins: config.corsOrigins,
    onCall: telemetry.begin,
    tls,
  });
  watchGauges(telemetry, {
    readiness,
    editions,
    namespaces: memory.namespaces,
    models,
    indexMemoryBytesMax: config.indexMemoryBytesMax,
    droppedLines: options.droppedLines,
    connections,
    connectionsMax: config.connectionsMax,
  });
  const metricsAddress = await listenForMetrics(config, { logger, readiness, closers, telemetry });
  const address = await listen(app, config);
  const draining = { readiness, shutdown, timeoutMs: config.shutdownTimeoutMs, onPhase: sayPhase };
  // When the start fails further on, nobody has called `leave`.
  const abandon = () => drain(app, draining, { noticeMs: 0, hastened: AbortSignal.abort() });
  closers.push(() => (readiness.leaving ? undefined : abandon()));
  await warm({
    recent: storage.recent,
    namespaces: memory.namespaces,
    stopping: options.stopping,
    onProgress: (done, of) => logger.debug({ done, of }, "warming"),
    onTrouble: warn({ logger, telemetry })("index", "no namespace is opened ahead"),
  });
  if (!options.stopping.aborted) readiness.start();
  const leave = (how: Leave) => drain(app, draining, how);
  return { address, metricsAddress, model: embedder.model, convention: embedder.convention, leave };
}
