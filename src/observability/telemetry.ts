import type { Embedder } from "../memory/ports/embedder.js";
import type { Quota } from "../memory/ports/quota.js";
import { type BegunCall, type CallWatcher, NO_TIMINGS, type StepTimer } from "../memory/ports/step-timer.js";
import { addGauges, type Sources } from "./gauges.js";
import { measureCall, measuredEmbed, measuredQuota, measuringTimer } from "./measured.js";
import type { Metrics } from "./metrics.js";
import { openTracing, type Tracing } from "./tracing.js";

/** Minimum time between two complaints about a collector that cannot be reached. */
const COMPLAINT_PAUSE_MS = 60_000;

/** Maximum length of a complaint: the library repeats the collector's whole answer. */
const COMPLAINT_CHARS_MAX = 1_000;

export interface TelemetryOptions {
  readonly version: string;
  readonly metrics: { readonly accountsMax: number } | undefined;
  readonly tracing: boolean;
  onTrouble(message: string): void;
}

/**
 * Adds metrics and traces by decorating the ports. A part that is not configured leaves the ports as they
 * are, and costs nothing.
 */
export class Telemetry {
  /** Times work for several calls. It is part of no single call, so no trace shows it. */
  readonly timer: StepTimer;

  private constructor(
    /** The instruments; undefined without metrics. */
    readonly metrics: Metrics | undefined,
    private readonly tracing: Tracing | undefined,
  ) {
    this.timer = metrics ? measuringTimer(metrics) : NO_TIMINGS;
  }

  static async open({ version, metrics, tracing, onTrouble }: TelemetryOptions): Promise<Telemetry> {
    // Loaded only where it is needed: it takes a sixth of the start.
    const opened = metrics && new (await import("./metrics.js")).Metrics(version, metrics.accountsMax);
    let loading = true;
    let quietUntilMs = 0;
    const complain = (message: string) => {
      opened?.troubles.inc({ part: "tracing" });
      if (performance.now() < quietUntilMs) return;
      // While the library loads, each complaint is about another setting.
      if (!loading) quietUntilMs = performance.now() + COMPLAINT_PAUSE_MS;
      onTrouble(message.length > COMPLAINT_CHARS_MAX ? `${message.slice(0, COMPLAINT_CHARS_MAX)}…` : message);
    };
    const tracer = tracing ? await openTracing({ version, onTrouble: complain }) : undefined;
    loading = false;
    return new Telemetry(opened, tracer);
  }

  readonly begin = (call: BegunCall): CallWatcher => {
    const measured = this.metrics && measureCall(call, this.metrics);
    const { traceId, timer = this.timer, end } = this.tracing?.begin(call, this.timer) ?? {};
    return {
      traceId,
      timer,
      end: (ended) => {
        measured?.(ended);
        end?.(ended);
      },
    };
  };

  quota(quota: Quota): Quota {
    return this.metrics ? measuredQuota(quota, this.metrics) : quota;
  }

  embed(embedder: Pick<Embedder, "embed">): Embedder["embed"] {
    if (this.metrics === undefined) return (input) => embedder.embed(input);
    return measuredEmbed(embedder, this.metrics);
  }

  /** Counts a request to an embedding server. */
  readonly embedServerRequest = ({
    outcome,
    ms,
    tokens,
  }: {
    outcome: string;
    ms: number;
    tokens: number;
  }) => {
    this.metrics?.embedServerSeconds.observe({ outcome }, ms / 1000);
    this.metrics?.embedServerTokens.inc(tokens);
  };

  watch(sources: Sources): void {
    if (this.metrics !== undefined) addGauges(this.metrics, sources);
  }

  /** The metrics in Prometheus' text format; undefined without metrics. */
  get exposition(): { readonly type: string; read(): Promise<string> } | undefined {
    const registry = this.metrics?.registry;
    return registry && { type: registry.contentType, read: () => registry.metrics() };
  }

  async close(): Promise<void> {
    await this.tracing?.close();
  }
}
