import type { Embedder, EmbedInput } from "../memory/ports/embedder.js";
import type { Quota } from "../memory/ports/quota.js";
import { type BegunCall, type CallWatcher, NO_TIMINGS, type StepTimer } from "../memory/ports/step-timer.js";
import { measureCall, measuredEmbed, measuredQuota, measuringTimer } from "./measured.js";
import type { Sources } from "./metrics.js";
import { openTracing } from "./tracing.js";

/** Minimum time between two complaints about a collector that cannot be reached. */
const COMPLAINT_PAUSE_MS = 60_000;

/** Maximum length of a complaint: the library repeats the collector's whole answer. */
const COMPLAINT_CHARS_MAX = 1_000;

export interface TelemetryOptions {
  readonly metrics: boolean;
  readonly tracing: boolean;
  onTrouble(message: string): void;
}

export type Telemetry = Awaited<ReturnType<typeof openTelemetry>>;

/**
 * Adds metrics and traces by decorating the ports. A part that is not configured leaves the ports as they
 * are, and costs nothing.
 */
export async function openTelemetry({ metrics: wanted, tracing, onTrouble }: TelemetryOptions) {
  // Loaded only where it is needed: it takes a sixth of the start.
  const instruments = wanted ? await import("./metrics.js") : undefined;
  const metrics = instruments && new instruments.Metrics();
  let loading = true;
  let quietUntilMs = 0;
  const complain = (message: string) => {
    metrics?.troubles.inc({ part: "tracing" });
    if (performance.now() < quietUntilMs) return;
    // While the library loads, each complaint is about another setting.
    if (!loading) quietUntilMs = performance.now() + COMPLAINT_PAUSE_MS;
    onTrouble(message.length > COMPLAINT_CHARS_MAX ? `${message.slice(0, COMPLAINT_CHARS_MAX)}…` : message);
  };
  const tracer = tracing ? await openTracing(complain) : undefined;
  loading = false;
  /** Times work for several calls. It is part of no single call, so no trace shows it. */
  const timer: StepTimer = metrics ? measuringTimer(metrics) : NO_TIMINGS;
  return {
    /** The instruments; undefined without metrics. */
    metrics,
    timer,
    begin: (call: BegunCall): CallWatcher => {
      const measured = metrics && measureCall(call, metrics);
      const traced = tracer?.begin(call, timer);
      return {
        traceId: traced?.traceId,
        timer: traced?.timer ?? timer,
        end: (ended) => {
          measured?.(ended);
          traced?.end(ended);
        },
      };
    },
    quota: (quota: Quota) => (metrics ? measuredQuota(quota, metrics) : quota),
    embed: (embedder: Pick<Embedder, "embed">) =>
      metrics ? measuredEmbed(embedder, metrics) : (input: EmbedInput) => embedder.embed(input),
    /** Counts a request to an embedding server. */
    embedServerRequest: ({ outcome, ms, tokens }: { outcome: string; ms: number; tokens: number }) => {
      metrics?.embedServerSeconds.observe({ outcome }, ms / 1000);
      metrics?.embedServerTokens.inc(tokens);
    },
    watch: (sources: Sources) => metrics && instruments?.addGauges(metrics, sources),
    /** The metrics in Prometheus' text format; undefined without metrics. */
    exposition: metrics && {
      type: metrics.registry.contentType,
      read: () => metrics.registry.metrics(),
    },
    close: async () => tracer?.close(),
  };
}
