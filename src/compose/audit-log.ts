import type { FastifyBaseLogger } from "fastify";
import { MemoryError } from "../errors.js";
import type { Answering } from "../storage/local/owner/owner.js";

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
