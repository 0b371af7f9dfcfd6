import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { OpenTotals } from "../memory/log/open-namespaces.js";
import type { EmbedInput, ModelIdentity } from "../memory/ports/embedder.js";
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
const EMBED_SERVER_OUTCOMES = ["ok", "lost", "limited", "refused", "unusable"] as const;

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

export interface Sources {
  readonly ready: () => boolean;
  readonly held: () => OpenTotals;
  readonly indexMemoryBytesMax: number;
  readonly models: () => readonly ModelIdentity[];
  readonly embedding: () => Readonly<Record<EmbedInput["field"], number>>;
  /** Log lines dropped since the start, because the output did not take them. */
  readonly droppedLines: () => number;
  /** Counts of the connections that calls come by, since the start, by reason. */
  readonly connections: Readonly<Record<"refused" | "cutOff", Counts>>;
  /** The shares of the calls, by their names in the metrics. */
  readonly shares: Readonly<Record<string, ShareState>> & { readonly connections: ShareState };
  readonly queueLimits: Counts;
}

interface ShareState {
  readonly used: number;
  readonly total: number;
}

type Counts = Readonly<Record<string, number>>;

/** A number, or one for each value of a label, or each with labels of its own. */
type Values = number | Counts | readonly [labels: Record<string, string>, value: number][];

/** Adds what is counted elsewhere, and read whenever the metrics are. */
export function addGauges({ registry }: Metrics, sources: Sources): void {
  const { connections, shares } = sources;
  const adderOf =
    (Instrument: typeof Counter | typeof Gauge) =>
    (name: string, help: string, read: () => Values, ...labelNames: string[]) =>
      new Instrument({
        name,
        help,
        labelNames,
        registers: [registry],
        collect() {
          this.reset();
          for (const [labels, value] of labelled(read(), labelNames[0])) this.inc(labels, value);
        },
      });
  const [counter, gauge] = [adderOf(Counter), adderOf(Gauge)];

  // A registry collects in the order of registration: the first gauge reads this for those that follow.
  let held = sources.held();
  const depths = () => {
    held = sources.held();
    const { query, text } = sources.embedding();
    return { embed_query: query, embed_text: text, append: held.appending, index: held.indexing };
  };
  const rows = (which: "tail" | "removed" | "backlog") => () =>
    Object.fromEntries(Object.entries(held.rows).map(([part, counts]) => [part, counts[which]]));
  gauge(
    "recalld_queue_depth",
    "What waits; of append and index, which each namespace has for itself, in the longest.",
    depths,
    "queue",
  );
  gauge(
    "recalld_queue_limit",
    "Maximum number that may wait; further calls are unavailable.",
    () => sources.queueLimits,
    "queue",
  );
  gauge("recalld_ready", "1 while /readyz says 200, else 0.", () => Number(sources.ready()));
  gauge("recalld_index_namespaces", "Namespaces held open.", () => held.namespaces);
  gauge("recalld_index_memories", "Memories in open indexes.", () => held.memories);
  gauge("recalld_index_bytes", "What open indexes take in memory, about.", () => held.bytes);
  gauge("recalld_index_tail_rows", "Rows of open indexes that are in no file yet.", rows("tail"), "part");
  gauge(
    "recalld_index_removed_rows",
    "Removed rows that take memory in open indexes until their segment is built anew.",
    rows("removed"),
    "part",
  );
  gauge(
    "recalld_index_backlog_rows",
    "Rows of the tail beyond those that may wait: writing files does not keep up.",
    rows("backlog"),
    "part",
  );
  gauge(
    "recalld_index_too_large",
    "Open namespaces whose index alone is over the limit: they refuse recalls, filters and stores.",
    () => held.tooLarge,
  );
  gauge("recalld_index_limit_bytes", "INDEX_MEMORY_BYTES_MAX.", () => sources.indexMemoryBytesMax);
  gauge("recalld_connections_limit", "CONNECTIONS_MAX.", () => shares.connections.total);
  gauge("recalld_connections_open", "Open connections to the port for calls.", () => shares.connections.used);
  const sharesBy = (which: "used" | "total") => () =>
    Object.fromEntries(Object.entries(shares).map(([share, each]) => [share, each[which]]));
  gauge("recalld_share_used", "What callers hold of a share.", sharesBy("used"), "share");
  gauge("recalld_share_limit", "What all callers together may hold of a share.", sharesBy("total"), "share");
  gauge(
    "recalld_model_info",
    "Always 1 for each model that is loaded.",
    () => sources.models().map(({ id, revision }) => [{ model: id, revision }, 1]),
    "model",
    "revision",
  );
  counter(
    "recalld_connections_refused_total",
    "Connections closed at once, because too many were open.",
    () => connections.refused,
    "reason",
  );
  counter(
    "recalld_clients_cut_off_total",
    "Clients cut off because they were slow, did not wait for answers, or went on after many refusals.",
    () => connections.cutOff,
    "reason",
  );
  counter(
    "recalld_log_lines_dropped_total",
    "Lines of the log that were dropped because its reader was slow.",
    sources.droppedLines,
  );
}

function labelled(values: Values, label = ""): readonly [labels: Record<string, string>, value: number][] {
  if (typeof values === "number") return [[{}, values]];
  if (Array.isArray(values)) return values;
  return Object.entries(values).map(([each, value]) => [{ [label]: each }, value]);
}
