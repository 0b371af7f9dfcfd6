import { setTimeout as sleep } from "node:timers/promises";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { coalesce } from "../concurrency/coalesce.js";
import { acceptsGzip, gzipped } from "./gzip.js";
import { addProbes, type Readiness } from "./listen/readiness.js";
import { shapeFastifyErrors } from "./listen/unserved.js";

/** Maximum number of connections: few clients scrape and probe. */
const CONNECTIONS_MAX = 64;
const REQUEST_TIMEOUT_MS = 10_000;
/** Time from the end of a reading of the metrics to the next one: who asks in between waits for the next, so scrapes cannot hold up calls. */
const READING_PAUSE_MS = 200;

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
  const read = sharedReading(exposition);
  app.route({
    method: ["GET", "HEAD"],
    url: "/metrics",
    handler: async (request, reply) => {
      reply.type(exposition.type).headers({ vary: "accept-encoding", "cache-control": "no-store" });
      const { text, compressed } = await read();
      if (!acceptsGzip(request.headers)) return reply.send(text);
      return reply.header("content-encoding", "gzip").send(await compressed());
    },
  });
  return app;
}

/** Reads the metrics for all who ask before a reading begins. None begins soon after another has ended. */
function sharedReading(exposition: MetricsOptions["exposition"]) {
  const read = async () => {
    const text = Buffer.from(await exposition.read());
    let gzip: Promise<Buffer> | undefined;
    return { text, compressed: () => (gzip ??= gzipped(text)) };
  };
  return coalesce(read, () => sleep(READING_PAUSE_MS, undefined, { ref: false }));
}
