import type { Embedder, Embedding, EmbedInput } from "../memory/embedder.js";
import type { Metrics } from "./metrics.js";
import type { Tracing } from "./tracing.js";

export interface Watchers {
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
}

/** An embedder whose texts are timed: how long each waited for a thread, and how long it was read. */
export function timedEmbed(embedder: Embedder, { metrics, tracing }: Watchers): Embedder["embed"] {
  const embed = async (input: EmbedInput): Promise<Embedding> => {
    const { field } = input;
    const startMs = performance.now();
    let begunMs: number | undefined;
    // Of a text in several parts the first one counts.
    const onBegin = () => {
      begunMs ??= performance.now();
    };
    const embedding = await embedder.embed({ ...input, onBegin });
    const endMs = performance.now();
    if (begunMs === undefined) {
      // No thread was needed.
      metrics?.cachedQueries.inc();
      return embedding;
    }
    metrics?.embedWaitSeconds.observe({ field }, (begunMs - startMs) / 1000);
    metrics?.embedRunSeconds.observe({ field }, (endMs - begunMs) / 1000);
    tracing?.record("embed wait", { startMs, endMs: begunMs });
    tracing?.record("embed run", { startMs: begunMs, endMs });
    return embedding;
  };
  return tracing === undefined ? embed : (input) => tracing.span("embed", () => embed(input));
}
