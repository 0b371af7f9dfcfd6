import { LRUCache } from "lru-cache";
import type { Embedding, EmbedInput } from "../memory/ports/embedder.js";
import type { OpenEmbedder } from "./open.js";

/** Memory for an entry, in addition to its text and its vectors. */
const ENTRY_BYTES = 200;

/**
 * Remembers the embeddings of recent queries, by account and exact text, because agents repeat queries.
 * Accounts share no entries: otherwise the time of an answer would tell what others ask. Stored texts
 * are not remembered. One cache belongs to one model.
 */
export function withQueryCache(embedder: OpenEmbedder, { bytesMax }: { bytesMax: number }): OpenEmbedder {
  if (bytesMax === 0) return embedder;
  const recent = new LRUCache<string, Embedding>({ maxSize: bytesMax, sizeCalculation: bytesOf });
  const embed = async (input: EmbedInput): Promise<Embedding> => {
    if (input.field !== "query") return embedder.embed(input);
    const key = `${input.owner}\n${input.text}`;
    const known = recent.get(key);
    if (known !== undefined) return known;
    const embedding = await embedder.embed(input);
    recent.set(key, embedding);
    return embedding;
  };
  return {
    embed,
    unreadShare: (text) => embedder.unreadShare(text),
    model: embedder.model,
    convention: embedder.convention,
    get waiting() {
      return embedder.waiting;
    },
    close: async () => {
      recent.clear();
      await embedder.close();
    },
  };
}

function bytesOf({ vectors, windows = [] }: Embedding, key: string): number {
  // A string takes up to two bytes for each unit.
  return (
    ENTRY_BYTES + 2 * key.length + vectors.byteLength + windows.length * 2 * Float64Array.BYTES_PER_ELEMENT
  );
}
