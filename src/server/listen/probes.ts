import type { FastifyInstance } from "fastify";
import type { Readiness } from "./readiness.js";

/** Paths of probes: an orchestrator restarts a process whose probes wait too long. */
export const PROBE_PATHS: readonly string[] = ["/livez", "/readyz"];

/** Serves the probes: `/livez` says that the process lives, `/readyz` whether it should be sent calls. */
export function addProbes(app: FastifyInstance, readiness: Pick<Readiness, "now">): void {
  // Many balancers ask by HEAD. Node leaves the body out there.
  const method = ["GET", "HEAD"];
  app.route({ method, url: "/livez", config: { open: true }, handler: async () => ({ status: "ok" }) });
  app.route({
    method,
    url: "/readyz",
    config: { open: true },
    handler: async (_request, reply) => {
      const ready = readiness.now();
      return reply.code(ready ? 200 : 503).send({ status: ready ? "ready" : "not ready" });
    },
  });
}
