import { once } from "node:events";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/health/v1/health_pb.js";
import { Share } from "../../concurrency/share.js";
import { MemoryError } from "../../errors.js";
import { toConnectError } from "../errors.js";
import type { Readiness } from "../listen/readiness.js";
import { callKey } from "./mount.js";

/** Open watches of all client addresses together. */
export const HEALTH_WATCHES_MAX = 256;
/** Time after which a refused watcher may find one free. */
const RETRY_MS = 1_000;

export interface HealthOptions {
  readonly readiness: Readiness;
  /** Services that can be asked about; the empty name stands for the whole server. */
  readonly services: readonly DescService[];
  /** Aborted when the server begins to close: a watch never ends by itself and would hold it open. */
  readonly shutdownSignal: AbortSignal;
}

/** Serves `grpc.health.v1.Health`: all services are well or none is, as `readiness` says. */
export function registerHealth(router: ConnectRouter, options: HealthOptions): void {
  const names = new Set(["", ...options.services.map(({ typeName }) => typeName)]);
  const { readiness, shutdownSignal } = options;
  const overall = () => (readiness.now() ? Status.SERVING : Status.NOT_SERVING);
  const open = new Share({ total: HEALTH_WATCHES_MAX, what: "open watches" });
  router.service(Health, {
    check: ({ service }) => {
      if (!names.has(service)) throw new ConnectError("no such service is served here", Code.NotFound);
      return { status: overall() };
    },
    list: () => ({
      statuses: Object.fromEntries([...names].map((name) => [name, { status: overall() }])),
    }),
    async *watch({ service }, { signal, values }) {
      // The protocol has unknown services watched as well, because they might be added.
      const statusOf = () => (names.has(service) ? overall() : Status.SERVICE_UNKNOWN);
      const owner = values.get(callKey)?.owner ?? "";
      if (!open.tryTake(owner)) {
        const options = { reason: "STREAMS_LIMITED", retryAfterMs: RETRY_MS } as const;
        throw toConnectError(new MemoryError("resource_exhausted", "too many watches are open", options));
      }
      const ended = AbortSignal.any([signal, shutdownSignal]);
      try {
        for (let last: Status | undefined; ; ) {
          const status = statusOf();
          if (status !== last) {
            last = status;
            yield { status }; // it may change while the client takes its time: so look again
          } else if (ended.aborted) return;
          // It rejects only if the watch must end.
          else await once(readiness, "change", { signal: ended }).catch(() => {});
        }
      } finally {
        open.give(owner);
      }
    },
  });
}
