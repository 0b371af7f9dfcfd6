import type { CallStep, Steps } from "../memory/ports/steps.js";
import type { Metrics } from "./metrics.js";

/** A call that has begun, as the door tells of it. */
export interface Begun {
  /** `service/method` of the contract. */
  readonly method: string;
  readonly protocol: string;
  readonly header: Headers;
}

/** What the door tells as the call goes on. */
export interface Ongoing {
  /** Of the trace that the call is part of. */
  readonly traceId?: string | undefined;
  /** Times the steps of this call. */
  readonly steps: Steps<CallStep>;
  end(ended: Ended): void;
}

export interface Ended {
  /** `ok`, or Connect's name of the error. */
  readonly code: string;
  readonly ms: number;
  /** Undefined for who has no key that lives. */
  readonly accountId: string | undefined;
}

/** OpenTelemetry's names: two of our four protocols are Connect's, two are gRPC's. */
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
