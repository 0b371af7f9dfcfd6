import type { FastifyBaseLogger } from "fastify";
import type { Part } from "../telemetry/metrics.js";
import type { Telemetry } from "../telemetry/telemetry.js";

/** Notes a failure that calls do not see. */
export function warn({ logger, telemetry }: { logger: FastifyBaseLogger; telemetry: Telemetry }) {
  return (part: Part, message: string) => (error: unknown) => {
    telemetry.trouble(part);
    logger.warn({ err: error }, message);
  };
}
