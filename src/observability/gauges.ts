import { Counter, Gauge, type Registry } from "prom-client";
import type { Held } from "../memory/log/open-namespaces.js";
import type { EmbedInput, ModelIdentity } from "../memory/ports/embedder.js";
import type { Metrics } from "./metrics.js";

export interface Sources {
  readonly ready: () => boolean;
  readonly held: () => Held;
  readonly indexMemoryBytesMax: number;
  readonly models: () => readonly ModelIdentity[];
  readonly embedding: () => Readonly<Record<EmbedInput["field"], number>>;
  /** Log lines dropped since the start, because the output did not take them. */
  readonly droppedLines: () => number;
  readonly connections: Connections;
  readonly connectionsMax: number;
  /** What callers share, by its name in the metrics. */
  readonly shares: Readonly<Record<string, { readonly used: number; readonly total: number }>>;
  readonly queueLimits: Readonly<Record<Queue, number>>;
}

/** State of the connections that calls come by; counts are since the start. */
export interface Connections {
  readonly open: number;
  readonly refused: Readonly<Record<"total" | "address", number>>;
  readonly cutOff: Readonly<Record<"first_bytes" | "request" | "answer" | "pipelining" | "refusals", number>>;
}

export type Queue = "embed_query" | "embed_text" | "append" | "index";

export function addGauges(metrics: Metrics, sources: Sources): void {
  const depth = new Gauge({
    name: "recalld_queue_depth",
    help: "What waits; of append and index, which each namespace has for itself, in the longest.",
    labelNames: ["queue"],
    registers: [metrics.registry],
    // A registry collects in the order of registration: this one reads for those that follow.
    collect: () => collect(),
  });
  const most = "Maximum number that may wait; further calls are unavailable.";
  const limit = metrics.gauge("recalld_queue_limit", most, "queue");
  for (const [queue, max] of Object.entries(sources.queueLimits)) limit.set({ queue }, max);
  const ready = metrics.gauge("recalld_ready", "1 while /readyz says 200, else 0.");
  const namespaces = metrics.gauge("recalld_index_namespaces", "Namespaces held open.");
  const memories = metrics.gauge("recalld_index_memories", "Memories in open indexes.");
  const bytes = metrics.gauge("recalld_index_bytes", "What open indexes take in memory, about.");
  const tail = metrics.gauge(
    "recalld_index_tail_rows",
    "Rows of open indexes that are in no file yet.",
    "part",
  );
  const removed = metrics.gauge(
    "recalld_index_removed_rows",
    "Removed rows that take memory in open indexes until their segment is built anew.",
    "part",
  );
  const behind = metrics.gauge(
    "recalld_index_rows_behind",
    "Rows of the tail beyond those that may wait: writing files does not keep up.",
    "part",
  );
  const tooLarge = metrics.gauge(
    "recalld_index_too_large",
    "Open namespaces whose index alone is over the limit: they refuse recalls, filters and stores.",
  );
  metrics.gauge("recalld_index_limit_bytes", "INDEX_MEMORY_BYTES_MAX.").set(sources.indexMemoryBytesMax);
  const model = metrics.gauge(
    "recalld_model_info",
    "Always 1 for each model that is loaded.",
    "model",
    "revision",
  );

  metrics.gauge("recalld_connections_limit", "CONNECTIONS_MAX.").set(sources.connectionsMax);
  const open = metrics.gauge("recalld_connections_open", "Open connections to the port for calls.");
  const used = metrics.gauge("recalld_share_used", "What callers hold of a share.", "share");
  const total = metrics.gauge(
    "recalld_share_limit",
    "What all callers together may hold of a share.",
    "share",
  );
  for (const [share, { total: most }] of Object.entries(sources.shares)) total.set({ share }, most);
  addCounts(metrics.registry, sources);

  function collect(): void {
    const held = sources.held();
    const { query, text } = sources.embedding();
    depth.set({ queue: "embed_query" }, query);
    depth.set({ queue: "embed_text" }, text);
    depth.set({ queue: "append" }, held.appending);
    depth.set({ queue: "index" }, held.indexing);
    ready.set(sources.ready() ? 1 : 0);
    namespaces.set(held.namespaces);
    memories.set(held.memories);
    bytes.set(held.bytes);
    for (const [part, rows] of Object.entries(held.rows)) {
      tail.set({ part }, rows.tail);
      removed.set({ part }, rows.removed);
      behind.set({ part }, rows.behind);
    }
    tooLarge.set(held.tooLarge);
    open.set(sources.connections.open);
    for (const [share, { used: now }] of Object.entries(sources.shares)) used.set({ share }, now);
    model.reset();
    for (const { id, revision } of sources.models()) model.set({ model: id, revision }, 1);
  }
}

function addCounts(registry: Registry, { droppedLines, connections }: Sources): void {
  const counter = (name: string, help: string, read: () => Readonly<Record<string, number>>) => {
    const shown = new Counter({
      name,
      help,
      labelNames: ["reason"],
      registers: [registry],
      collect: () => {
        shown.reset();
        for (const [reason, count] of Object.entries(read())) shown.inc({ reason }, count);
      },
    });
  };
  const refused = "Connections closed at once, because too many were open.";
  counter("recalld_connections_refused_total", refused, () => connections.refused);
  const cutOff =
    "Clients cut off because they were slow, did not wait for answers, or went on after many refusals.";
  counter("recalld_clients_cut_off_total", cutOff, () => connections.cutOff);
  const dropped = new Counter({
    name: "recalld_log_lines_dropped_total",
    help: "Lines of the log that were dropped because its reader was slow.",
    registers: [registry],
    collect: () => {
      dropped.reset();
      dropped.inc(droppedLines());
    },
  });
}
