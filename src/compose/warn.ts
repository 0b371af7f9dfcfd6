import type { FastifyBaseLogger } from "fastify";
import { MemoryError } from "../errors.js";
import type { Component } from "../observability/metrics.js";
import type { Answering } from "../storage/local/owner/owner.js";
import type { Context } from "./context.js";

/** Logs and counts a failure that calls do not see. */
export function warn({ logger, telemetry }: Pick<Context, "logger" | "telemetry">) {
  return (component: Component, message: string) => (error: unknown) => {
    telemetry.metrics?.troubles.inc({ part: component });
    logger.warn({ err: error }, message);
  };
}

/** Serves the operator, and logs each request and each failure's cause, which the operator is not told. */
export function audited(logger: FastifyBaseLogger, answer: Answering): Answering {
  return async (request) => {
    const { operation } = request;
    logger.info({ operation }, "the operator asks");
    try {
      return await answer(request);
    } catch (error) {
      const failure = { err: error, operation };
      if (!(error instanceof MemoryError)) logger.error(failure, "fault");
      else if (error.cause !== undefined) logger.warn(failure, "the operator's command failed");
      throw error;
    }
  };
}
