import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Step } from "../memory/ports/steps.js";
import { AccountCalls } from "./account-calls.js";

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

const STEPS: Readonly<Record<Step, true>> = {
  charge: true,
  refund: true,
  embed: true,
  append: true,
  catch_up: true,
  words: true,
  filter: true,
  search: true,
  fetch: true,
  write: true,
  read: true,
  restore: true,
  seal: true,
};

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
  readonly callSeconds = new Histogram({
    name: "rpc_server_call_duration_seconds",
    help: "Duration of calls, from the request's head to the answer's last byte.",
    labelNames: ["rpc_system_name", "rpc_method", "rpc_response_status_code", "protocol"],
    buckets: CALL_SECONDS,
    registers: [this.registry],
  });
  readonly callsInFlight = new Gauge({
    name: "recalld_calls_in_flight",
    help: "Calls that have begun and not ended.",
    labelNames: ["rpc_method"],
    registers: [this.registry],
  });
  readonly stepSeconds = new Histogram({
    name: "recalld_step_duration_seconds",
    help: "Duration of the steps of calls, and of the maintenance of indexes.",
    labelNames: ["step", "outcome"],
    buckets: STEP_SECONDS,
    registers: [this.registry],
  });
  readonly embedWaitSeconds = new Histogram({
    name: "recalld_embed_wait_seconds",
    help: "How long texts waited for an embedding thread.",
    labelNames: ["field"],
    buckets: EMBED_SECONDS,
    registers: [this.registry],
  });
  readonly embedRunSeconds = new Histogram({
    name: "recalld_embed_run_seconds",
    help: "From when a thread took a text to its last vector.",
    labelNames: ["field"],
    buckets: EMBED_SECONDS,
    registers: [this.registry],
  });
  readonly embedMainThread = new Counter({
    name: "recalld_embed_main_thread_total",
    help: "Texts that the main thread embedded, because nothing else waited.",
    labelNames: ["field"],
    registers: [this.registry],
  });
  readonly cachedQueries = new Counter({
    name: "recalld_cached_queries_total",
    help: "Queries whose vectors were known already.",
    registers: [this.registry],
  });
  readonly charges = new Counter({
    name: "recalld_charges_total",
    help: "Calls taken from plans and given back, by what came of it.",
    labelNames: ["outcome"],
    registers: [this.registry],
  });
  readonly tokens = new Counter({
    name: "recalld_tokens_total",
    help: "Tokens of the texts and queries of calls that succeeded.",
    labelNames: ["call"],
    registers: [this.registry],
  });
  readonly caughtUp = new Counter({
    name: "recalld_catch_up_entries_total",
    help: "Log entries read into indexes: at their opening, or because another process wrote them.",
    registers: [this.registry],
  });
  readonly lostEntries = new Counter({
    name: "recalld_lost_entries_total",
    help: "Log entries found missing or unreadable, each time their namespace is opened.",
    registers: [this.registry],
  });
  readonly lostCallRecords = new Counter({
    name: "recalld_call_records_lost_total",
    help: "Records of calls that were not written, because the database did not take them in time.",
    registers: [this.registry],
  });
  readonly troubles = new Counter({
    name: "recalld_troubles_total",
    help: "Failures behind the calls, each logged as a warning and tried again.",
    labelNames: ["part"],
    registers: [this.registry],
  });
  readonly recallChecked = new Counter({
    name: "recalld_recall_checked_total",
    help: "Nearest vectors of served queries that were searched again exactly.",
    registers: [this.registry],
  });
  readonly recallFound = new Counter({
    name: "recalld_recall_found_total",
    help: "Those of recalld_recall_checked_total that the served search had found.",
    registers: [this.registry],
  });
  readonly storageAvailable = new Gauge({
    name: "recalld_storage_available",
    help: "1 while the database answers, else 0.",
    registers: [this.registry],
  });

  readonly accountCalls: AccountCalls;

  constructor({ version, accountsMax }: { version: string; accountsMax: number }) {
    this.accountCalls = new AccountCalls(this.registry, accountsMax);
    new Gauge({
      name: "recalld_build_info",
      help: "Always 1; its labels say what runs.",
      labelNames: ["version", "node_version"],
      registers: [this.registry],
    }).set({ version, node_version: process.versions.node }, 1);
    collectDefaultMetrics({ register: this.registry });
    this.storageAvailable.set(1);
    // Present from the first scrape on, so that the first failure shows as an increase.
    for (const step of Object.keys(STEPS)) {
      for (const outcome of ["ok", "error"]) this.stepSeconds.zero({ step, outcome });
    }
    for (const field of ["query", "text"]) {
      this.embedWaitSeconds.zero({ field });
      this.embedRunSeconds.zero({ field });
    }
    for (const outcome of CHARGE_OUTCOMES) this.charges.inc({ outcome }, 0);
    for (const call of ["store", "recall"]) this.tokens.inc({ call }, 0);
    for (const part of PARTS) this.troubles.inc({ part }, 0);
  }
}
