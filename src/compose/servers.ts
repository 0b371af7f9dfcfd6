import { join } from "node:path";
import { packageRoot } from "../embedding/models/locate.js";
import { SHARED_MAX as EMBEDDING_MAX } from "../embedding/pool/embed-queue.js";
import { WAITING_MAX as INDEXING_MAX } from "../index/vectors/index-thread.js";
import { WAITING_MAX as APPENDING_MAX } from "../memory/log/appender.js";
import type { StreamPorts } from "../memory/operations/stream/open-streams.js";
import { type AppOptions, createApp } from "../server/app.js";
import { TrustedProxies } from "../server/listen/client-address.js";
import { drain, type ShutdownOptions } from "../server/listen/drain.js";
import { listen } from "../server/listen/http-server.js";
import { Load } from "../server/load.js";
import { createMetricsApp } from "../server/metrics.js";
import type { Context } from "./context.js";
import { longest } from "./models.js";

interface ServersOptions
  extends Pick<AppOptions, "accounts" | "authenticate" | "plans" | "tls" | "fetchDocument"> {
  readonly memory: StreamPorts;
  readonly droppedLines: () => number;
}

/** Opens both ports; returns their addresses, and a function that closes the first to new calls. */
export async function startServers(context: Context, options: ServersOptions) {
  const { config, readiness, logger, closers, telemetry, models } = context;
  const { memory } = options;
  const ending = new AbortController();
  const load = new Load();
  closers.push(() => load.close());
  const { app, calls, connections, shares } = createApp({
    ...options,
    readiness,
    logger,
    load,
    issuer: config.publicUrl,
    shutdownSignal: ending.signal,
    portal: join(packageRoot(), "dist/web"),
    signUps: { perHour: config.signupsPerHour, perHourTotal: config.signupsPerHourTotal },
    proxies: new TrustedProxies(config.trustedProxies),
    connectionsMax: config.connectionsMax,
    connectionsPerAddressMax: config.connectionsPerAddressMax,
    corsOrigins: config.corsOrigins,
    onBegin: telemetry.begin,
  });
  telemetry.watch({
    ready: () => readiness.now(),
    held: () => memory.namespaces.open.measure(),
    models: () => memory.modelVersions.models,
    embedding: () => longest(models),
    queueLimits: {
      embed_query: EMBEDDING_MAX,
      embed_text: EMBEDDING_MAX,
      append: APPENDING_MAX,
      index: INDEXING_MAX,
    },
    indexMemoryBytesMax: config.indexMemoryBytesMax,
    connections,
    droppedLines: options.droppedLines,
    shares: {
      ...shares,
      watches: memory.streams.shares.watch,
      exports: memory.streams.shares.export,
      stream_bytes: memory.streams.shares.bytes,
    },
  });
  const { host, port, metricsPort } = config;
  let metricsAddress: string | undefined;
  if (metricsPort !== undefined && telemetry.exposition !== undefined) {
    const metrics = createMetricsApp({ exposition: telemetry.exposition, logger, readiness });
    closers.push(() => metrics.close());
    metricsAddress = `${await listen(metrics, { host, port: metricsPort, setting: "METRICS_PORT" })}/metrics`;
  }
  const address = await listen(app, { host, port, tls: options.tls });
  const draining = { readiness, ending, timeoutMs: config.shutdownTimeoutMs };
  const shutdown = (how: ShutdownOptions) => drain(app, draining, how);
  // When a later step of the start fails, `shutdown` has not been called.
  const abandon = () => shutdown({ noticeMs: 0, force: AbortSignal.abort() });
  closers.push(() => (readiness.withdrawn ? undefined : abandon()));
  return { address, metricsAddress, shutdown, calls };
}
