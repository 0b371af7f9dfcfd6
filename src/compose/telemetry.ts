import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config/config.js";
import { Telemetry } from "../observability/telemetry.js";
import { listen } from "../server/http/listen.js";
import { createMetricsApp } from "../server/http/metrics.js";
import { VERSION } from "../version.js";
import type { Context } from "./context.js";

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
  closers,
  telemetry,
  ...listener
}: Context): Promise<string | undefined> {
  const { exposition } = telemetry;
  if (metricsPort === undefined || exposition === undefined) return undefined;
  const app = createMetricsApp({ exposition, ...listener });
  closers.push(() => app.close());
  return `${await listen(app, { host, port: metricsPort, setting: "METRICS_PORT" })}/metrics`;
}
