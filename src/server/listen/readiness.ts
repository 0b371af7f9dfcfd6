import { EventEmitter } from "node:events";
import type { FastifyInstance } from "fastify";

/** Other servers that calls need. */
type Needed = "database" | "embedding server";

/**
 * State of whether this process should be sent calls; read by `/readyz` and gRPC health. It emits `change` when that may
 * have changed.
 */
export class Readiness extends EventEmitter {
  /** False once calls are never answered again unless the process is started again; read by `/livez`. */
  alive = true;
  #started = false;
  readonly #away = new Set<Needed>();
  /** True once the process is on its way out: it answers what comes, and wants no more of it. */
  withdrawn = false;

  constructor() {
    super();
    // One listener for each open watch is no leak.
    this.setMaxListeners(0);
  }

  now(): boolean {
    return this.#started && this.#away.size === 0 && !this.withdrawn;
  }

  /** Marks that the first calls have all they need. */
  start(): void {
    this.#started = true;
    this.emit("change");
  }

  /** Notes that another server is away, or back. It may be called at any time, also before `start`. */
  setAway(needed: Needed, away: boolean): void {
    if (away) this.#away.add(needed);
    else this.#away.delete(needed);
    this.emit("change");
  }

  /** Withdraws readiness for good: a database that comes back while the process ends must not restore it. */
  withdraw(): void {
    this.withdrawn = true;
    this.emit("change");
  }
}

/** Paths of probes: an orchestrator restarts a process whose probes wait too long. */
export const PROBE_PATHS: readonly string[] = ["/livez", "/readyz"];

/** Serves the probes: `/livez` says whether the process should go on, `/readyz` whether it should be sent calls. */
export function addProbes(app: FastifyInstance, readiness: Pick<Readiness, "alive" | "now">): void {
  const add = (url: string, word: string, isWell: () => boolean) =>
    app.route({
      // Many balancers ask by HEAD. Node leaves the body out there.
      method: ["GET", "HEAD"],
      url,
      handler: async (_request, reply) => {
        const [code, status] = isWell() ? [200, word] : [503, `not ${word}`];
        return reply.code(code).send({ status });
      },
    });
  add("/livez", "ok", () => readiness.alive);
  add("/readyz", "ready", () => readiness.now());
}
