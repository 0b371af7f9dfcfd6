import type { CallStep, Steps } from "../memory/ports/steps.js";
import type { Metrics } from "./metrics.js";

/** A call that has begun. */
export interface Begun {
  /** `service/method` of the contract. */
  readonly method: string;
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Telemetry of a running call. */
export interface Ongoing {
  /** Id of the trace that the call is part of. */
  readonly traceId?: string | undefined;
  /** Times the steps of this call. */
  readonly steps: Steps<CallStep>;
  end(ended: Ended): void;
}

export interface Ended {
  /** `ok`, or Connect's name of the error. */
  readonly code: string;
  readonly ms: number;
  /** Undefined for a caller without a living key. */
  readonly accountId: string | undefined;
}

/** OpenTelemetry's names of our protocols: two are gRPC's, and all others ask RPCs as Connect does. */
export function systemOf(protocol: string): "connectrpc" | "grpc" {
  return protocol.startsWith("grpc") ? "grpc" : "connectrpc";
}

export function measureCall(
  { method, protocol }: Begun,
  { callsInFlight, callSeconds, accountCalls }: Metrics,
): Ongoing["end"] {
  callsInFlight.inc({ rpc_method: method });
  return ({ code, ms, accountId }) => {
    accountCalls.count(accountId, code);
    callsInFlight.dec({ rpc_method: method });
    const labels = {
      rpc_system_name: systemOf(protocol),
      rpc_method: method,
      rpc_response_status_code: code,
      protocol,
    };
    callSeconds.observe(labels, ms / 1000);
  };
}
