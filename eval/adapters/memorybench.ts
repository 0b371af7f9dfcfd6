// MemoryBench, asked of a running recalld. Copy this to src/providers/recalld/index.ts of supermemoryai/memorybench.
//
// Follows `Provider` in src/types/provider.ts and `UnifiedSession` in src/types/unified.ts at 25729a7, written here
// as far as they are used. eval/adapters/README.md says what else to change, and how to start the server.
import { Recalld, RecalldError } from "@recalld/client";

interface Session {
  readonly sessionId: string;
  readonly messages: readonly { role: string; content: string; timestamp?: string; speaker?: string }[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Most memories of one batch; as many of the longest texts fit into its body. */
const BATCH = 64;
/** Longest text: 65,536 bytes whatever its letters. */
const TEXT_CHARS_MAX = 16_000;
const TOP_K = 10;
/** Most results where the operator did not allow more. */
const TOP_K_MAX = 20;

/** A memory is a message; what a question finds comes with the messages around it. */
export class RecalldProvider {
  readonly name = "recalld";
  readonly concurrency = { default: 4 };
  #recalld: Recalld | undefined;

  async initialize({ apiKey, baseUrl }: { apiKey: string; baseUrl?: string }): Promise<void> {
    this.#recalld = new Recalld({ apiKey, baseUrl: baseUrl ?? "http://127.0.0.1:8080" });
  }

  async ingest(
    sessions: readonly Session[],
    { containerTag: namespace }: { containerTag: string },
  ): Promise<{ documentIds: string[] }> {
    const memories = sessions.flatMap(memoriesOf);
    const documentIds: string[] = [];
    for (let at = 0; at < memories.length; at += BATCH) {
      const batch = memories.slice(at, at + BATCH);
      const { results } = await this.#server().storeBatch({ namespace, memories: batch });
      for (const { stored, error } of results) {
        if (error !== undefined) throw new Error(`a message was not stored: ${error.message}`);
        if (stored !== undefined) documentIds.push(stored.id);
      }
    }
    return { documentIds };
  }

  /** Nothing to wait for: what a store answered is found by the next recall. */
  async awaitIndexing(
    { documentIds }: { documentIds: string[] },
    _containerTag?: string,
    onProgress?: (progress: { completedIds: string[]; failedIds: string[]; total: number }) => void,
  ): Promise<void> {
    onProgress?.({ completedIds: documentIds, failedIds: [], total: documentIds.length });
  }

  async search(
    query: string,
    { containerTag: namespace, limit = TOP_K }: { containerTag: string; limit?: number },
  ): Promise<unknown[]> {
    const topK = Math.min(limit, TOP_K_MAX);
    const neighbors = { before: 1, after: 1, same: "session" };
    const { results } = await this.#server().recall({ namespace, query, topK, mode: "HYBRID", neighbors });
    return results.map(({ text, score, metadata = {}, eventTime, before, after }) => ({
      text,
      score,
      session: metadata.session,
      date: metadata.date ?? eventTime,
      before: before?.memories.map((one) => one.text),
      after: after?.memories.map((one) => one.text),
    }));
  }

  async clear(containerTag: string): Promise<void> {
    try {
      await this.#server().deleteNamespace({ namespace: containerTag, force: true });
    } catch (error) {
      if (!(error instanceof RecalldError && error.code === "not_found")) throw error;
    }
  }

  #server(): Recalld {
    if (this.#recalld === undefined) throw new Error("Provider not initialized");
    return this.#recalld;
  }
}

function memoriesOf({ sessionId: session, messages, metadata = {} }: Session) {
  const date = metadata.formattedDate ?? metadata.date;
  return messages.flatMap(({ role, content, timestamp, speaker }) => {
    const text = `${speaker ?? role}: ${content}`;
    const time = Date.parse(timestamp ?? String(metadata.date));
    return chunksOf(text).map((chunk) => ({
      text: chunk,
      metadata: { session, ...(typeof date === "string" && { date }) },
      ...(!Number.isNaN(time) && { eventTime: new Date(time) }),
    }));
  });
}

/** Parts of a text that can be stored: none is cut within a character, and none is blank. */
function chunksOf(text: string): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / TEXT_CHARS_MAX);
  const from = (i: number) => i * TEXT_CHARS_MAX;
  return Array.from({ length: count }, (_, i) => characters.slice(from(i), from(i + 1)).join("")).filter(
    (chunk) => chunk.trim() !== "",
  );
}
