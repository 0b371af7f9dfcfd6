import type { IncomingMessage, ServerResponse } from "node:http";
import { Buckets, type Rate } from "../../concurrency/bucket.js";
import { MemoryError } from "../../errors.js";
import { endWithGrpcError, NO_STORE, toConnectError } from "../errors.js";
import { networkOf } from "./client-address.js";
import { PROBE_PATHS } from "./readiness.js";
import { connectionOf, noteRefusal } from "./refusals.js";

/** Rate of requests of one network that no key pays for: pages, unknown paths, preflights, health, sign-ups. */
export const KEYLESS_RATE: Rate = Object.freeze({ perSecond: 200, burst: 1_000 });
/** Rate of probes of one network. Other requests take none of it: an orchestrator restarts what fails a probe. */
export const PROBES_RATE: Rate = Object.freeze({ perSecond: 50, burst: 100 });
/** Rate of refusals that a network without a key is answered; beyond it, its connection is ended at once. */
const ANSWERED_RATE: Rate = { perSecond: 50, burst: 200 };

const ERROR = new MemoryError(
  "resource_exhausted",
  "too many requests without a key come from this address",
  { reason: "RATE_LIMITED", retryAfterMs: 1_000 },
);
const { code, message, reason } = ERROR;
const BODY = JSON.stringify({ code, message, reason });
const HEADERS = {
  "content-type": "application/json",
  "content-length": Buffer.byteLength(BODY),
  "cache-control": NO_STORE,
  "retry-after": "1",
};
const GRPC = { error: toConnectError(ERROR), headers: { "cache-control": NO_STORE } };

/** True if a request brings a key or a session, even a wrong one: whoever serves it looks at that. */
export function hasCredential({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const { authorization, cookie } = headers;
  return (
    authorization !== undefined ||
    headers["x-api-key"] !== undefined ||
    cookie?.includes("recalld-session") === true
  );
}

/** Limits the requests of each network that no key pays for. */
export class KeylessRequests {
  readonly #requests = new Buckets(KEYLESS_RATE);
  readonly #probes = new Buckets(PROBES_RATE);
  readonly #answered = new Buckets(ANSWERED_RATE);
  /** Connections that have asked for a probe: their first is always answered, whoever else floods. */
  readonly #probed = new WeakSet<object>();

  /** Takes a token for a request, or refuses it and returns true. */
  refuses(request: IncomingMessage, response: ServerResponse): boolean {
    const network = networkOf(request.clientAddress ?? "");
    const isProbe = PROBE_PATHS.includes(request.url?.split("?", 1)[0] ?? "/");
    if (isProbe ? this.#takesProbe(request, network) : this.#requests.tryTake(network)) return false;
    const isAnswered = this.#answered.tryTake(network);
    noteRefusal(request, { immediately: !isAnswered });
    if (endWithGrpcError(request, response, GRPC)) return true;
    response.writeHead(429, HEADERS);
    response.end(request.method === "HEAD" ? undefined : BODY);
    return true;
  }

  #takesProbe(request: IncomingMessage, network: string): boolean {
    if (this.#probes.tryTake(network)) return true;
    const connection = connectionOf(request);
    if (this.#probed.has(connection)) return false;
    this.#probed.add(connection);
    return true;
  }
}
