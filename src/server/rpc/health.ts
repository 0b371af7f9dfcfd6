import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/health/v1/health_pb.js";
import { Share } from "../../concurrency/share.js";
import type { Readiness } from "../listen/readiness.js";
import { callKey } from "./mount.js";

/** Open watches of all client addresses together. */
export const HEALTH_WATCHES_MAX = 256;

export interface HealthOptions {
  readonly readiness: Pick<Readiness, "now" | "onChange">;
  /** Services that can be asked about; the empty name stands for the whole server. */
  readonly services: readonly DescService[];
  /** Aborted when the server begins to close: a watch never ends by itself and would hold it open. */
  readonly shutdownSignal: AbortSignal;
}

/** Serves `grpc.health.v1.Health`: all services are well or none is, as `readiness` says. */
export function registerHealth(router: ConnectRouter, options: HealthOptions): void {
  const names = new Set(["", ...options.services.map(({ typeName }) => typeName)]);
  const overall = () => (options.readiness.now() ? Status.SERVING : Status.NOT_SERVING);
  const nextChange = changesOf(options);
  const open = new Share({ total: HEALTH_WATCHES_MAX, what: "open watches", reason: "STREAMS_LIMITED" });
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
      const ended = () => signal.aborted || options.shutdownSignal.aborted;
      const owner = values.get(callKey)?.owner ?? "";
      if (!open.tryTake(owner)) throw new ConnectError("too many watches are open", Code.ResourceExhausted);
      try {
        yield* watch({ statusOf, ended, nextChange: () => nextChange(signal) });
      } finally {
        open.give(owner);
      }
    },
  });
}

interface Watched {
  statusOf(): Status;
  ended(): boolean;
  /** Resolves when one of the two may have changed. */
  nextChange(): Promise<void>;
}

/** Yields the status now, and again each time it has changed. */
async function* watch({ statusOf, ended, nextChange }: Watched) {
  let last: Status | undefined;
  for (;;) {
    const status = statusOf();
    if (status !== last) {
      last = status;
      yield { status }; // it may change while the client takes its time: so look again
    } else if (ended()) return;
    else await nextChange();
  }
}

/**
 * Waits for readiness to change, the server to close or the given signal to abort. All waiting calls share
 * one listener at each source, because Node warns of a leak at eleven.
 */
function changesOf({ readiness, shutdownSignal }: HealthOptions) {
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const done of waiting) done();
  };
  readiness.onChange(wake);
  shutdownSignal.addEventListener("abort", wake);
  return (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const done = () => {
        waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      waiting.add(done);
      signal.addEventListener("abort", done);
    });
}
