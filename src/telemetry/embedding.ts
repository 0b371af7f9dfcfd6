import type { Embedder, Embedding, EmbeddingThread, EmbedInput } from "../memory/ports/embedder.js";
import type { Metrics } from "./metrics.js";

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
