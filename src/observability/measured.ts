import { MemoryError } from "../errors.js";
import { LogEndedError } from "../memory/log/replica.js";
import type { Embedder, Embedding, EmbeddingThread, EmbedInput } from "../memory/ports/embedder.js";
import type { Quota } from "../memory/ports/quota.js";
import type { BegunCall, CallWatcher, StepTimer } from "../memory/ports/step-timer.js";
import type { ChargeOutcome, Metrics } from "./metrics.js";

/** Reasons for which the server ends a call: its caller has gone, or its time is over. */
const ENDED = ["AbortError", "ConnectError"];

/**
 * True if a step failed through a fault of the service. A used-up plan, a namespace that moved, and
 * a call that was ended are no faults.
 */
export function isFault(error: unknown): boolean {
  if (error instanceof MemoryError) return error.code === "unavailable" || error.code === "internal";
  if (error instanceof Error && ENDED.includes(error.name)) return false;
  return !(error instanceof LogEndedError);
}

export function measureCall({ method, protocol }: BegunCall, metrics: Metrics): CallWatcher["end"] {
  metrics.callsInFlight.inc({ rpc_method: method });
  return ({ code, ms }) => {
    metrics.callsInFlight.dec({ rpc_method: method });
    const labels = {
      rpc_system_name: systemOf(protocol),
      rpc_method: method,
      rpc_response_status_code: code,
      protocol,
    };
    metrics.callSeconds.observe(labels, ms / 1000);
  };
}

export function measuringTimer({ stepSeconds }: Metrics): StepTimer {
  return {
    time: async (step, work) => {
      const startMs = performance.now();
      const end = (outcome: string) =>
        stepSeconds.observe({ step, outcome }, (performance.now() - startMs) / 1000);
      try {
        const result = await work();
        end("ok");
        return result;
      } catch (error) {
        end(isFault(error) ? "error" : "ok");
        throw error;
      }
    },
  };
}

/** Counts charges. Refunds are counted elsewhere: only the quota itself knows whether one succeeded. */
export function measuredQuota(quota: Quota, { charges, tokens }: Metrics): Quota {
  return {
    ...quota,
    charge: async (caller, calls = 1) => {
      try {
        await quota.charge(caller, calls);
        charges.inc({ outcome: "charged" }, calls);
      } catch (error) {
        charges.inc({ outcome: refusalOf(error) }, calls);
        throw error;
      }
    },
    count: (caller, counted) => {
      tokens.inc({ call: counted.call }, counted.tokens);
      quota.count(caller, counted);
    },
  };
}

function refusalOf(error: unknown): ChargeOutcome {
  if (!(error instanceof MemoryError)) return "failed";
  if (error.code === "unauthenticated") return "unauthenticated";
  return error.reason === "QUOTA_EXHAUSTED" ? "quota_exhausted" : "failed";
}

/** Decorates an embedder with timings: each text's wait for a thread, and its time in it. */
export function measuredEmbed(embedder: Pick<Embedder, "embed">, metrics: Metrics): Embedder["embed"] {
  const { embedWaitSeconds, embedRunSeconds, embedMainThread, cachedQueries } = metrics;
  return async (input: EmbedInput): Promise<Embedding> => {
    const { field } = input;
    const startMs = performance.now();
    let begunMs: number | undefined;
    const onBegin = (thread: EmbeddingThread) => {
      if (thread === "main") embedMainThread.inc({ field });
      // For a text in several parts, the first one counts.
      begunMs ??= performance.now();
      input.onBegin?.(thread);
    };
    const embedding = await embedder.embed({ ...input, onBegin });
    if (begunMs === undefined) {
      // No thread was needed.
      cachedQueries.inc();
      return embedding;
    }
    embedWaitSeconds.observe({ field }, (begunMs - startMs) / 1000);
    embedRunSeconds.observe({ field }, (performance.now() - begunMs) / 1000);
    return embedding;
  };
}

/** OpenTelemetry's names of our protocols: two are gRPC's, and all others ask RPCs as Connect does. */
export function systemOf(protocol: string): "connectrpc" | "grpc" {
  return protocol.startsWith("grpc") ? "grpc" : "connectrpc";
}
