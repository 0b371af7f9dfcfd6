import { Counter, Gauge } from "prom-client";
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
  /** Counts of the connections that calls come by, since the start, by reason. */
  readonly connections: Readonly<Record<"refused" | "cutOff", Counts>>;
  /** What callers share, by its name in the metrics. */
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
  const rows = (which: "tail" | "removed" | "behind") => () =>
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
    "recalld_index_rows_behind",
    "Rows of the tail beyond those that may wait: writing files does not keep up.",
    rows("behind"),
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
