import type { FastifyInstance } from "fastify";
import type { Readiness } from "../port/readiness.js";

/** Serves the probes: `/livez` says that the process lives, `/readyz` whether it should be sent calls. */
export function addProbes(app: FastifyInstance, readiness: Pick<Readiness, "now">): void {
  app.get("/livez", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const ready = readiness.now();
    return reply.code(ready ? 200 : 503).send({ status: ready ? "ready" : "not ready" });
  });
}
