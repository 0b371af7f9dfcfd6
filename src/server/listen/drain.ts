import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { unavailable } from "../../errors.js";
import { toConnectError } from "../errors.js";
import type { Readiness } from "./readiness.js";

/** Time from the end of the calls that took too long to the end of their connections. */
const LAST_ANSWERS_MS = 500;

export interface Draining {
  readonly readiness: Readiness;
  /** Aborted when the calls that still run must end. */
  readonly ending: AbortController;
  /** Time that running calls may take, from the end of the notice. */
  readonly timeoutMs: number;
}

/** How to shut the service down. */
export interface ShutdownOptions {
  /** Time from the loss of readiness to the end of taking calls, in which balancers notice. */
  readonly noticeMs: number;
  /** Aborted when it must go quickly: no more notice, and running calls end. */
  readonly force: AbortSignal;
}

/**
 * Takes a server out of service. First it says that it is not ready and serves on, so that balancers can
 * choose another. Then it takes no more connections, sends GOAWAY on HTTP/2, and lets running calls finish.
 * Calls that take longer end with `unavailable`.
 */
export async function drain(
  app: FastifyInstance,
  { readiness, ending, timeoutMs }: Draining,
  { noticeMs, force }: ShutdownOptions,
): Promise<void> {
  const wasReady = readiness.now();
  readiness.withdraw();
  // A process that was not ready gets no calls: no balancer has to notice.
  if (wasReady && noticeMs > 0) {
    app.log.info({ phase: "notice" }, "stopping");
    // It rejects only if the signal aborts.
    await sleep(noticeMs, undefined, { signal: force }).catch(() => {});
  }
  app.log.info({ phase: "calls" }, "stopping");
  let cut: NodeJS.Timeout | undefined;
  const endCalls = () => {
    ending.abort(toConnectError(unavailable("the server is shutting down")));
    // The last answers need a moment to leave.
    cut ??= setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_MS);
  };
  const timer = setTimeout(endCalls, timeoutMs);
  if (force.aborted) endCalls();
  else force.addEventListener("abort", endCalls);
  await app.close();
  clearTimeout(timer);
  clearTimeout(cut);
  force.removeEventListener("abort", endCalls);
}
