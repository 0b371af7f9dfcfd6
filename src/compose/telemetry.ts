import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config/config.js";
import { SHARED_MAX as EMBEDDING_MAX } from "../embedding/pool/embed-queue.js";
import { WAITING_MAX as INDEXING_MAX } from "../index/vectors/index-thread.js";
import { WAITING_MAX as APPENDING_MAX } from "../memory/log/appender.js";
import type { Namespaces } from "../memory/log/namespaces.js";
import type { ModelVersions } from "../memory/models/model-versions.js";
import type { Sources } from "../observability/gauges.js";
import { Telemetry } from "../observability/telemetry.js";
import { listen } from "../server/listen/http-server.js";
import { createMetricsApp } from "../server/metrics.js";
import { VERSION } from "../version.js";
import type { Context } from "./context.js";
import { longest, type Models } from "./models.js";

export function openTelemetry(config: Config, logger: FastifyBaseLogger): Promise<Telemetry> {
  return Telemetry.open({
    version: VERSION,
    metrics: config.metricsPort === undefined ? undefined : { accountsMax: config.metricsAccountsMax },
    tracing: config.otelExporterOtlpEndpoint !== undefined,
    onTrouble: (reason) => logger.warn({ reason }, "tracing"),
  });
}

/** Listens on the port for metrics; returns the address of `/metrics`. */
export async function listenForMetrics({
  config: { host, metricsPort },
  telemetry: { exposition },
  closers,
  logger,
  readiness,
}: Context): Promise<string | undefined> {
  if (metricsPort === undefined || exposition === undefined) return undefined;
  const app = createMetricsApp({ exposition, logger, readiness });
  closers.push(() => app.close());
  return `${await listen(app, { host, port: metricsPort, setting: "METRICS_PORT" })}/metrics`;
}

interface Watched
  extends Pick<
    Sources,
    "indexMemoryBytesMax" | "droppedLines" | "connections" | "connectionsMax" | "shares"
  > {
  readonly modelVersions: ModelVersions;
  readonly namespaces: Namespaces;
  readonly models: Models;
}

export function watchGauges(
  { telemetry, readiness }: Context,
  { modelVersions, namespaces, models, ...sources }: Watched,
): void {
  telemetry.watch({
    ...sources,
    ready: () => readiness.now(),
    held: () => namespaces.measure(),
    models: () => modelVersions.models,
    embedding: () => longest(models),
    queueLimits: {
      embed_query: EMBEDDING_MAX,
      embed_text: EMBEDDING_MAX,
      append: APPENDING_MAX,
      index: INDEXING_MAX,
    },
  });
}
