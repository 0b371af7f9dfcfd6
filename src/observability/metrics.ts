import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { CALL_STEPS, SHARED_STEPS } from "../memory/ports/step-timer.js";
import { VERSION } from "../version.js";

/**
 * OpenTelemetry's buckets for calls, with finer ones below them, since most calls take a few milliseconds.
 */
const CALL_SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30,
];
/** Buckets for steps, which range from a scan of a small index to the rebuilding of a large one. */
const STEP_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600,
];
const EMBED_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

/** Outcomes of charging a call, or of refunding it. */
export const CHARGE_OUTCOMES = [
  "charged",
  "quota_exhausted",
  "unauthenticated",
  "failed",
  "refunded",
  "refund_failed",
] as const;
export type ChargeOutcome = (typeof CHARGE_OUTCOMES)[number];

/** Outcomes of requests to an embedding server, as src/embedding/remote/request.ts defines them. */
export const EMBED_SERVER_OUTCOMES = ["ok", "lost", "limited", "refused", "unusable"] as const;

/** Parts of the service that continue after a failure, and log it as a warning. */
export const PARTS = [
  "embedder",
  "index",
  "usage",
  "last_used",
  "calls",
  "sweeping",
  "reembedding",
  "tracing",
] as const;
export type Component = (typeof PARTS)[number];

/** The instruments, in their own registry. All sets of label values are bounded; callers choose none. */
export class Metrics {
  readonly registry = new Registry();
  readonly callSeconds = this.#histogram(
    "rpc_server_call_duration_seconds",
    "Duration of calls, from the request's head to the answer's last byte.",
    {
      labels: ["rpc_system_name", "rpc_method", "rpc_response_status_code", "protocol"],
      buckets: CALL_SECONDS,
    },
  );
  readonly callsInFlight = this.#gauge(
    "recalld_calls_in_flight",
    "Calls that have begun and not ended.",
    "rpc_method",
  );
  readonly stepSeconds = this.#histogram(
    "recalld_step_duration_seconds",
    "Duration of the steps of calls, and of the maintenance of indexes.",
    { labels: ["step", "outcome"], buckets: STEP_SECONDS },
  );
  readonly embedWaitSeconds = this.#histogram(
    "recalld_embed_wait_seconds",
    "How long texts waited for an embedding thread.",
    { labels: ["field"], buckets: EMBED_SECONDS },
  );
  readonly embedRunSeconds = this.#histogram(
    "recalld_embed_run_seconds",
    "From when a thread took a text to its last vector.",
    { labels: ["field"], buckets: EMBED_SECONDS },
  );
  readonly embedMainThread = this.#counter(
    "recalld_embed_main_thread_total",
    "Texts that the main thread embedded, because nothing else waited.",
    "field",
  );
  readonly cachedQueries = this.#counter(
    "recalld_cached_queries_total",
    "Queries whose vectors were known already.",
  );
  readonly embedServerSeconds = this.#histogram(
    "recalld_embed_server_seconds",
    "Duration of requests to the embedding server of EMBED_URL, by what came of them.",
    { labels: ["outcome"], buckets: EMBED_SECONDS },
  );
  readonly embedServerTokens = this.#counter(
    "recalld_embed_server_tokens_total",
    "Tokens that the embedding server counted in what it was sent.",
  );
  readonly embedServerAvailable = this.#gauge(
    "recalld_embed_server_available",
    "0 while the embedding server is away, else 1.",
  );
  readonly charges = this.#counter(
    "recalld_charges_total",
    "Calls taken from plans and given back, by what came of it.",
    "outcome",
  );
  readonly tokens = this.#counter(
    "recalld_tokens_total",
    "Tokens of the texts and queries of calls that succeeded.",
    "call",
  );
  readonly caughtUp = this.#counter(
    "recalld_catch_up_entries_total",
    "Log entries read into indexes: at their opening, or because another process wrote them.",
  );
  readonly lostEntries = this.#counter(
    "recalld_lost_entries_total",
    "Log entries found missing or unreadable, each time their namespace is opened.",
  );
  readonly lostCallRecords = this.#counter(
    "recalld_call_records_lost_total",
    "Records of calls that were not written, because the database did not take them in time.",
  );
  readonly troubles = this.#counter(
    "recalld_troubles_total",
    "Failures behind the calls, each logged as a warning and tried again.",
    "part",
  );
  readonly recallChecked = this.#counter(
    "recalld_recall_checked_total",
    "Nearest vectors of served queries that were searched again exactly.",
  );
  readonly recallFound = this.#counter(
    "recalld_recall_found_total",
    "Those of recalld_recall_checked_total that the served search had found.",
  );
  readonly storageAvailable = this.#gauge(
    "recalld_storage_available",
    "1 while the database answers, else 0.",
  );
  constructor() {
    this.#gauge("recalld_build_info", "Always 1; its labels say what runs.", "version", "node_version").set(
      { version: VERSION, node_version: process.versions.node },
      1,
    );
    collectDefaultMetrics({ register: this.registry });
    this.storageAvailable.set(1);
    this.embedServerAvailable.set(1);
    // Present from the first scrape on, so that the first failure shows as an increase.
    for (const step of [...CALL_STEPS, ...SHARED_STEPS]) {
      for (const outcome of ["ok", "error"]) this.stepSeconds.zero({ step, outcome });
    }
    for (const outcome of EMBED_SERVER_OUTCOMES) this.embedServerSeconds.zero({ outcome });
    for (const field of ["query", "text"]) {
      this.embedWaitSeconds.zero({ field });
      this.embedRunSeconds.zero({ field });
    }
    for (const outcome of CHARGE_OUTCOMES) this.charges.inc({ outcome }, 0);
    for (const call of ["store", "recall"]) this.tokens.inc({ call }, 0);
    for (const part of PARTS) this.troubles.inc({ part }, 0);
  }

  #gauge<L extends string = never>(name: string, help: string, ...labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  #counter<L extends string = never>(name: string, help: string, ...labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<L extends string>(
    name: string,
    help: string,
    { labels: labelNames, buckets }: { labels: readonly L[]; buckets: number[] },
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
