import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { acceptsGzip, gzipped } from "./gzip.js";
import { addProbes, type Readiness } from "./listen/readiness.js";
import { shapeFastifyErrors } from "./listen/unserved.js";

/** Maximum number of connections: few clients scrape and probe. */
const CONNECTIONS_MAX = 64;
const REQUEST_TIMEOUT_MS = 10_000;

export interface MetricsOptions {
  readonly exposition: { readonly type: string; read(): Promise<string> };
  readonly logger: FastifyBaseLogger;
  readonly readiness: Pick<Readiness, "alive" | "now">;
}

/**
 * Serves `/metrics` and the probes on a separate port. The public cannot reach it, and it answers when all
 * connections of the other port are taken.
 */
export function createMetricsApp({ exposition, logger, readiness }: MetricsOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    connectionTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  shapeFastifyErrors(app);
  addProbes(app, readiness);
  let reading: Promise<string> | undefined;
  app.route({
    method: ["GET", "HEAD"],
    url: "/metrics",
    handler: async (request, reply) => {
      reply.type(exposition.type).headers({ vary: "accept-encoding", "cache-control": "no-store" });
      // Shared by all who ask while it is read, so that scrapes cannot pile up.
      reading ??= exposition.read().finally(() => {
        reading = undefined;
      });
      const text = await reading;
      if (!acceptsGzip(request.headers)) return reply.send(text);
      return reply.header("content-encoding", "gzip").send(await gzipped(text));
    },
  });
  return app;
}
