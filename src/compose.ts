import { setMaxListeners } from "node:events";
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { openGate } from "./accounts/authenticate.js";
import { UsageCounter } from "./accounts/count-usage.js";
import { LastUsed } from "./accounts/last-used.js";
import { charge, getAccount } from "./accounts/quota.js";
import type { Config } from "./config.js";
import { openEmbedder } from "./embedding/open.js";
import { packageRoot } from "./embedding/package-root.js";
import { MemoryError } from "./errors.js";
import { systemClock } from "./memory/clock.js";
import { dropAll } from "./memory/drop-all.js";
import type { ModelIdentity } from "./memory/embedder.js";
import { type ForgetPorts, sweep } from "./memory/forget.js";
import { Maps } from "./memory/map.js";
import type { Meter } from "./memory/meter.js";
import { parseNamespace } from "./memory/namespace.js";
import { Namespaces } from "./memory/namespaces.js";
import { Once } from "./memory/once.js";
import type { Facts } from "./memory/pin.js";
import type { Vectors } from "./memory/vectors.js";
import { warm } from "./memory/warm.js";
import { createApp } from "./server/app.js";
import { loadPortal } from "./server/portal-files.js";
import { Readiness } from "./server/readiness.js";
import { readTls } from "./server/tls.js";
import { openLocal } from "./storage/local/open.js";
import { openMongo } from "./storage/mongo/open.js";
import type { Storage } from "./storage/storage.js";
import { ThreadProjector } from "./vectors/projector.js";
import { openUsearch } from "./vectors/usearch.js";

/** How often the database is asked whether it is there, for `/readyz`. */
const STORAGE_CHECK_MS = 2000;

/** From the end of the calls that took too long to the end of their connections. */
const LAST_ANSWERS_MS = 100;
/** How often what was counted behind the calls is written. */
const FLUSH_MS = 5_000;

/** How often interrupted erasures are looked for. */
const SWEEP_MS = 60_000;

/** A running service. */
export interface Service {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly address: string;
  readonly model: ModelIdentity;
  /** Finishes what runs, flushes and closes. */
  close(): Promise<void>;
}

/** Builds the house from its settings: the only place that names concrete adapters. */
export async function openService(
  config: Config,
  { logger, stopping }: { logger: FastifyBaseLogger; stopping: AbortSignal },
): Promise<Service> {
  const closers: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const tls = config.tls && (await readTls(config.tls));
    const storage = await openStorage(config);
    closers.push(() => storage.close());
    const embedder = await openEmbedder({
      model: config.model,
      modelsDir: config.modelsDir,
      workers: config.embedWorkers,
      onTrouble: (error) => logger.warn({ err: error }, "embedding"),
    });
    closers.push(() => embedder.close());
    await pinModel(storage.facts, embedder.model);
    const clock = systemClock;
    const { log, claims, erasures, recent, exclusive, accounts } = storage;
    const vectors = openVectors(config, embedder.model.dimensions);
    const namespaces = new Namespaces({
      log,
      clock,
      vectors,
      recent,
      indexMemoryBytesMax: config.indexMemoryBytesMax,
      onLost: (incarnation, { sequence, entry }) =>
        logger.error({ incarnation, sequence, reason: entry.reason }, "an entry of the log is lost"),
      onTrouble: (error) => logger.warn({ err: error }, "index upkeep"),
    });
    closers.push(() => namespaces.close());
    const usage = new UsageCounter(storage.usage, {
      everyMs: FLUSH_MS,
      onTrouble: (error) => logger.warn({ err: error }, "usage is not written; it is tried again"),
    });
    closers.push(() => usage.close());
    const lastUsed = new LastUsed(accounts, {
      everyMs: FLUSH_MS,
      onTrouble: (error) => logger.warn({ err: error }, "when keys were last used is not written"),
    });
    closers.push(() => lastUsed.close());
    const meter: Meter = {
      charge: (caller) => charge(accounts, caller),
      verify: async (caller) => void (await getAccount(accounts, caller)),
      refund: ({ accountId }) =>
        accounts
          .refund(accountId)
          .catch((error) => logger.warn({ err: error, accountId }, "a call that failed stays paid")),
      count: ({ accountId }, call) => usage.count(accountId, call),
    };
    const once = new Once({ claims, log, clock, exclusive });
    const projector = new ThreadProjector();
    closers.push(() => projector.close());
    const maps = new Maps({ log, projector, clock });
    const memory = { embedder, namespaces, meter, log, erasures, vectors, once, maps, clock };
    closers.push(keepSweeping(memory, logger));
    const readiness = new Readiness();
    const shutdown = new AbortController();
    // One listener for each running call: that many are no leak.
    setMaxListeners(0, shutdown.signal);
    const app = createApp({
      memory,
      accounts: {
        accounts,
        signUp: config.signUp,
        freeCalls: config.freeCalls,
        usage,
        parseNamespace,
        eraseMemories: (accountId) => dropAll(memory, accountId),
      },
      authenticate: openGate({ accounts, onUse: (caller) => lastUsed.note(caller) }),
      readiness,
      logger,
      shutdownSignal: shutdown.signal,
      portal: await loadPortal(join(packageRoot(), "dist/web")),
      signUps: { perHour: config.signUpsPerHour, perHourTotal: config.signUpsPerHourTotal },
      trustedProxies: config.trustedProxies,
      corsOrigins: config.corsOrigins,
      tls,
    });
    const address = await listen(app, config);
    closers.push(() => drain(app, { shutdown, timeoutMs: config.shutdownTimeoutMs }));
    await warm({
      recent,
      namespaces,
      clock,
      stopping,
      onProgress: (done, of) => logger.debug({ done, of }, "warming"),
    });
    readiness.set(true);
    const stopWatching = watchStorage(storage, readiness);
    closers.push(async () => stopWatching());
    return { address, model: embedder.model, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Opens the database that the settings name. */
export function openStorage({ mongodbUri, dataDir }: Config): Promise<Storage> {
  return mongodbUri === undefined ? openLocal({ dataDir }) : openMongo({ uri: mongodbUri });
}

export function openVectors({ dataDir }: Config, dimensions: number): Vectors {
  return openUsearch({ dimensions, snapshotsDir: join(dataDir, "snapshots") });
}

/** Vectors of two models cannot be compared: a database keeps to the one it began with. */
async function pinModel(facts: Facts, model: ModelIdentity): Promise<void> {
  const pinned = await facts.pinModel(model);
  const same = (Object.keys(model) as (keyof ModelIdentity)[]).every((key) => pinned[key] === model[key]);
  if (same) return;
  throw new MemoryError(
    "failed_precondition",
    `the database holds vectors of ${describe(pinned)}, but MODEL is ${describe(model)}; ` +
      "start with that model, or with an empty database",
  );
}

function describe({ id, revision, dtype, dimensions }: ModelIdentity): string {
  return `${id} (revision ${revision.slice(0, 12)}, ${dtype}, ${dimensions} dimensions)`;
}

async function listen(app: FastifyInstance, { host, port, tls }: Config): Promise<string> {
  try {
    const address = await app.listen({ host, port });
    // Fastify, which did not make the server, does not know of its TLS.
    return tls === undefined ? address : address.replace(/^http:/, "https:");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new MemoryError("failed_precondition", `PORT ${port} on ${host} is in use`);
    if (code === "EACCES")
      throw new MemoryError("failed_precondition", `PORT ${port} on ${host} needs privileges`);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
      throw new MemoryError("failed_precondition", `HOST ${host} is not an address of this machine`);
    }
    throw error;
  }
}

/** Lets running calls finish; those that take longer are ended with `unavailable`. */
async function drain(
  app: FastifyInstance,
  { shutdown, timeoutMs }: { shutdown: AbortController; timeoutMs: number },
): Promise<void> {
  const stop = setTimeout(() => {
    shutdown.abort(new ConnectError("the server is shutting down", Code.Unavailable));
    // The answers just given need a moment to leave.
    setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_MS);
  }, timeoutMs);
  await app.close();
  clearTimeout(stop);
}

/** Finishes interrupted erasures: now, and every minute. */
function keepSweeping(ports: ForgetPorts, logger: FastifyBaseLogger): () => Promise<void> {
  let running = Promise.resolve();
  const run = () => {
    running = sweep(ports).then(
      (finished) => void (finished > 0 && logger.info({ finished }, "swept")),
      (error) => logger.warn({ err: error }, "sweeping failed; it is tried again in a minute"),
    );
  };
  run();
  const timer = setInterval(run, SWEEP_MS).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

function watchStorage(storage: Storage, readiness: Readiness): () => void {
  const timer = setInterval(() => {
    storage.check().then(
      () => readiness.set(true),
      () => readiness.set(false),
    );
  }, STORAGE_CHECK_MS);
  return () => {
    clearInterval(timer);
    readiness.set(false);
  };
}
