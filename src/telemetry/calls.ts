import type { CallStep, Steps } from "../memory/ports/steps.js";

/** A call that has begun. */
export interface Begun {
  /** `service/method` of the contract. */
  readonly method: string;
  readonly protocol: string;
  readonly header: Headers;
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
