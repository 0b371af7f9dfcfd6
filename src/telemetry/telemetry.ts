import type { Embedder } from "../memory/ports/embedder.js";
import type { Quota } from "../memory/ports/quota.js";
import { type Steps, untimed } from "../memory/ports/steps.js";
import { type Begun, measureCall, type Ongoing } from "./calls.js";
import { measuredEmbed } from "./embedding.js";
import { addGauges, type Sources } from "./gauges.js";
import { measuredQuota, measuredSteps } from "./measured.js";
import { type ChargeOutcome, type Component, Metrics } from "./metrics.js";
import { Tracing } from "./tracing.js";

/** A collector that is away is complained of now and then, not at each attempt. */
const COMPLAINT_PAUSE_MS = 60_000;

/** The library repeats what a collector answers, however long that is. */
const COMPLAINT_CHARS_MAX = 1_000;

export interface TelemetryOptions {
  readonly version: string;
  /** `accountsMax`: how many accounts may be named in them. */
  readonly metrics: { readonly accountsMax: number } | undefined;
  readonly tracing: boolean;
  /** Told what tracing complains of. */
  onTrouble(message: string): void;
}

/**
 * Metrics and traces by decorating the ports: what is not asked for leaves the ports as they are, and
 * costs nothing.
 */
export class Telemetry {
  /** Times what is done on behalf of several calls: it is part of none, and so no trace shows it. */
  readonly steps: Steps;

  private constructor(
    private readonly metrics: Metrics | undefined,
    private readonly tracing: Tracing | undefined,
  ) {
    this.steps = metrics ? measuredSteps(metrics) : untimed;
  }

  static async open({ version, metrics, tracing, onTrouble }: TelemetryOptions): Promise<Telemetry> {
    const opened = metrics && new Metrics({ version, ...metrics });
    let loading = true;
    let quietUntilMs = 0;
    const complain = (message: string) => {
      opened?.troubles.inc({ part: "tracing" });
      if (performance.now() < quietUntilMs) return;
      // While it loads, each is of another setting.
      if (!loading) quietUntilMs = performance.now() + COMPLAINT_PAUSE_MS;
      onTrouble(message.length > COMPLAINT_CHARS_MAX ? `${message.slice(0, COMPLAINT_CHARS_MAX)}…` : message);
    };
    const tracer = tracing ? await Tracing.open({ version, onTrouble: complain }) : undefined;
    loading = false;
    return new Telemetry(opened, tracer);
  }

  /** Told of each call by the door. */
  readonly begin = (call: Begun): Ongoing => {
    const measured = this.metrics && measureCall(call, this.metrics);
    const { traceId, steps = this.steps, end } = this.tracing?.begin(call, this.steps) ?? {};
    return {
      traceId,
      steps,
      end: (ended) => {
        measured?.(ended);
        end?.(ended);
      },
    };
  };

  quota(quota: Quota): Quota {
    return this.metrics ? measuredQuota(quota, this.metrics) : quota;
  }

  embed(embedder: Embedder): Embedder["embed"] {
    if (this.metrics === undefined) return (input) => embedder.embed(input);
    return measuredEmbed(embedder, this.metrics);
  }

  /** What is read at each scrape. */
  watch(sources: Sources): void {
    if (this.metrics !== undefined) addGauges(this.metrics.registry, sources);
  }

  /** Told by the quota whether a call could be given back; the quota itself never throws. */
  refunded(outcome: Extract<ChargeOutcome, "refunded" | "refund_failed">): void {
    this.metrics?.charges.inc({ outcome });
  }

  storageIsAway(away: boolean): void {
    this.metrics?.storageAvailable.set(away ? 0 : 1);
  }

  caughtUp(entries: number): void {
    this.metrics?.caughtUp.inc(entries);
  }

  lostEntry(): void {
    this.metrics?.lostEntries.inc();
  }

  trouble(part: Component): void {
    this.metrics?.troubles.inc({ part });
  }

  /** In Prometheus' text format; undefined without metrics. */
  get exposition(): { readonly type: string; read(): Promise<string> } | undefined {
    const registry = this.metrics?.registry;
    return registry && { type: registry.contentType, read: () => registry.metrics() };
  }

  async close(): Promise<void> {
    await this.tracing?.close();
  }
}
