import type { FastifyBaseLogger } from "fastify";
import { openAuthenticator } from "./accounts/authenticate.js";
import { FREE, type Plans } from "./accounts/plan.js";
import { type OperatorPorts, operate } from "./admin/operations.js";
import { audited, type Closers, type Context, closeAll, warn } from "./compose/context.js";
import { openCounting } from "./compose/counting.js";
import { openMemory } from "./compose/memory.js";
import { describeNewest, openModelVersions, startReembedding } from "./compose/models.js";
import { startServers } from "./compose/servers.js";
import { openStorage, ownIndexFiles } from "./compose/storage.js";
import type { Config } from "./config/config.js";
import { readPlans } from "./config/plans.js";
import type { FoundConvention } from "./embedding/models/find-convention.js";
import { unavailable } from "./errors.js";
import { dropAll } from "./memory/erasure/drop.js";
import { indexStatus } from "./memory/log/index-status.js";
import { warm } from "./memory/log/warm.js";
import type { ModelIdentity } from "./memory/ports/embedder.js";
import { openTelemetry } from "./observability/telemetry.js";
import type { ShutdownOptions } from "./server/listen/drain.js";
import { Readiness } from "./server/listen/readiness.js";
import { openTls } from "./server/listen/tls.js";
import { within } from "./storage/within.js";

/** Time from the last call's end in which counts, snapshots and the database are written and closed. */
const CLOSE_TIMEOUT_MS = 30_000;

export interface Service {
  /** Address of the one port, such as `http://127.0.0.1:8080`. */
  readonly address: string;
  /** Address of `/metrics`, where `METRICS_PORT` asks for it. */
  readonly metricsAddress: string | undefined;
  readonly model: ModelIdentity;
  /** Rules by which the model reads texts, and their source. */
  readonly convention: FoundConvention;
  /** Finishes what runs, flushes and closes. */
  close(options: ShutdownOptions): Promise<void>;
}

export interface ServiceOptions {
  readonly logger: FastifyBaseLogger;
  readonly droppedLines: () => number;
  /** Aborted when the program is to end, maybe before it has started. */
  readonly stopping: AbortSignal;
  /** Plans in place of those that the settings name. */
  readonly plans?: Plans;
  /** Fetches the documents of OAuth's clients in place of the internet. */
  readonly fetchDocument?: (url: string) => Promise<unknown>;
}

/** Builds the service from its settings: the only place that names concrete adapters. */
export async function openService(config: Config, options: ServiceOptions): Promise<Service> {
  const closers: Closers = [];
  try {
    const { shutdown, ...started } = await start(config, { ...options, closers });
    const close = async (how: ShutdownOptions) => {
      await shutdown(how);
      options.logger.info({ phase: "flush" }, "stopping");
      await within(CLOSE_TIMEOUT_MS, closeAll(closers));
    };
    return { ...started, close };
  } catch (error) {
    // The operator needs the reason for which the start failed, not a failure to close afterwards.
    await closeAll(closers).catch(() => {});
    throw error;
  }
}

async function start(config: Config, options: ServiceOptions & { closers: Closers }) {
  const { logger, closers, stopping } = options;
  const { tlsCert: certFile, tlsKey: keyFile } = config;
  // First, so that a mistake in the certificate shows at once.
  const tls = certFile && keyFile ? await openTls({ certFile, keyFile }, logger) : undefined;
  const plans = options.plans ?? (await readPlans(config));
  const telemetry = await openTelemetry({
    metrics: config.metricsPort !== undefined,
    tracing: config.otelExporterOtlpEndpoint !== undefined,
    onTrouble: (reason) => logger.warn({ reason }, "tracing"),
  });
  closers.push(() => telemetry.close());
  let operatorPorts: OperatorPorts | undefined;
  const answer = audited(logger, async (request) => {
    if (operatorPorts === undefined) throw unavailable("the server is only starting; try again");
    return operate(operatorPorts, request);
  });
  const storage = await openStorage(config, { answer, creates: true });
  closers.push(() => storage.close());
  const readiness = new Readiness();
  const context: Context = { config, logger, telemetry, readiness, closers, models: new Set() };
  await ownIndexFiles(context, storage, answer);
  let calls = { running: 0 };
  const { systemRecords } = storage;
  const running = () => calls.running;
  const { modelVersions, first } = await openModelVersions(context, { systemRecords, running, stopping });
  const counting = openCounting(context, storage);
  const memory = openMemory(context, { ...counting, storage, modelVersions });
  startReembedding(context, memory);
  const accountPorts = {
    ...counting,
    signUp: config.signup,
    freeCalls: plans.get(FREE).calls,
    model: () => describeNewest(modelVersions),
    eraseMemories: (accountId: string) => dropAll(memory, accountId),
  };
  let address: string | undefined;
  operatorPorts = {
    ...accountPorts,
    plans,
    systemRecords,
    log: storage.log,
    names: storage.names,
    backUp: storage.backUp,
    address: () => address,
    indexStatus: (page) => indexStatus(memory, page),
    eraseIndex: (scope) => memory.namespaces.eraseIndex(scope),
  };
  const servers = await startServers(context, {
    plans,
    memory,
    tls,
    accounts: accountPorts,
    authenticate: openAuthenticator({ ...counting, onUse: (caller) => counting.lastUsed.note(caller) }),
    droppedLines: options.droppedLines,
    fetchDocument: options.fetchDocument,
  });
  address = servers.address;
  calls = servers.calls;
  await warm({
    names: storage.names,
    namespaces: memory.namespaces,
    stopping,
    onProgress: (done, total) => logger.debug({ done, total }, "warming"),
    onTrouble: warn(context)("index", "no namespace is opened ahead"),
  });
  if (!stopping.aborted) readiness.start();
  const { shutdown, metricsAddress } = servers;
  const { model, convention } = first;
  return { address: servers.address, metricsAddress, model, convention, shutdown };
}
