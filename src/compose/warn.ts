import type { FastifyBaseLogger } from "fastify";
import type { Component } from "../observability/metrics.js";
import type { Telemetry } from "../observability/telemetry.js";

/** Logs and counts a failure that calls do not see. */
export function warn({ logger, telemetry }: { logger: FastifyBaseLogger; telemetry: Telemetry }) {
  return (component: Component, message: string) => (error: unknown) => {
    telemetry.metrics?.troubles.inc({ part: component });
    logger.warn({ err: error }, message);
  };
}
