import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/health/v1/health_pb.js";
import { clientAddressKey, networkOf } from "../port/client-address.js";
import type { Readiness } from "../port/readiness.js";

/** Maximum number of open watches; more are refused with `resource_exhausted`. */
export const WATCHES_MAX = 256;

/**
 * Maximum number of watches of one client address (of IPv6, one /64). No client without a key may shut others
 * out.
 */
export const WATCHES_PER_ADDRESS_MAX = 32;

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
  const limit = limited();
  router.service(Health, {
    check: ({ service }) => {
      if (!names.has(service)) throw new ConnectError("no such service is served here", Code.NotFound);
      return { status: overall() };
    },
    list: () => ({
      statuses: Object.fromEntries([...names].map((name) => [name, { status: overall() }])),
    }),
    watch: ({ service }, { signal, values }) => {
      // The protocol has unknown services watched as well, because they might be added.
      const statusOf = () => (names.has(service) ? overall() : Status.SERVICE_UNKNOWN);
      const ended = () => signal.aborted || options.shutdownSignal.aborted;
      const network = networkOf(values.get(clientAddressKey));
      return limit(network, () => watch({ statusOf, ended, nextChange: () => nextChange(signal) }));
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

/** Limits the number of open streams, in all and of each network. */
function limited() {
  const open = new Map<string, number>();
  let total = 0;
  const count = (network: string, change: number) => {
    total += change;
    const own = (open.get(network) ?? 0) + change;
    if (own > 0) open.set(network, own);
    else open.delete(network);
  };
  return async function* <T>(network: string, stream: () => AsyncIterable<T>): AsyncGenerator<T> {
    const own = open.get(network) ?? 0;
    if (own >= WATCHES_PER_ADDRESS_MAX) throw tooMany(`${WATCHES_PER_ADDRESS_MAX} watches of this address`);
    if (total >= WATCHES_MAX) throw tooMany(`${WATCHES_MAX} watches`);
    count(network, 1);
    try {
      yield* stream();
    } finally {
      count(network, -1);
    }
  };
}

function tooMany(what: string): ConnectError {
  return new ConnectError(`${what} are open already`, Code.ResourceExhausted);
}
