import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config/config.js";
import type { OpenEmbedder } from "../embedding/embedder.js";
import { MemoryError } from "../errors.js";
import type { Component } from "../observability/metrics.js";
import type { Telemetry } from "../observability/telemetry.js";
import type { Readiness } from "../server/listen/readiness.js";
import type { Answering } from "../storage/local/owner/owner.js";

/** Functions to call at the end, or when the start fails, the last one first. */
export type Closers = (() => unknown)[];

/** Closes all, also those behind one that fails. @throws the first failure, once all are closed. */
export async function closeAll(closers: Closers): Promise<void> {
  const failed: unknown[] = [];
  for (const close of closers.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      failed.push(error);
    }
  }
  if (failed.length > 0) throw failed[0];
}

export interface Context {
  readonly config: Config;
  readonly logger: FastifyBaseLogger;
  readonly telemetry: Telemetry;
  readonly readiness: Readiness;
  readonly closers: Closers;
  readonly models: Set<OpenEmbedder>;
}

/** Logs and counts a failure that calls do not see. */
export function warn({ logger, telemetry }: Pick<Context, "logger" | "telemetry">) {
  return (component: Component, message: string) => (error: unknown) => {
    telemetry.metrics?.troubles.inc({ part: component });
    logger.warn({ err: error }, message);
  };
}

/** Wraps what answers the operator: logs each request, and the cause of a failure, which the answer does not show. */
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
