import { LRUCache } from "lru-cache";
import type { Embedder, Embedding, EmbedInput } from "../memory/ports/embedder.js";
import { unreadShareOf } from "./encode/vocabulary.js";
import type { FoundConvention } from "./models/find-convention.js";
import type { Pool } from "./pool/pool.js";

export interface OpenEmbedder extends Embedder {
  readonly convention: FoundConvention;
  /** Numbers of texts that wait for a thread. */
  waiting(): Readonly<Record<EmbedInput["field"], number>>;
  /** Finishes the texts that are being read; those that wait are `unavailable`. */
  close(): Promise<void>;
}

/** Makes the embedder of a pool, whose model can read some scripts; undefined if nothing says which. */
export function embedderOf(
  pool: Pool,
  {
    scripts,
    ...identity
  }: Pick<OpenEmbedder, "model" | "convention"> & { scripts?: readonly string[] | undefined },
): OpenEmbedder {
  return {
    ...identity,
    waiting: () => pool.waiting,
    embed: (input) => pool.embed(input),
    unreadShare: (text) => (scripts === undefined ? 0 : unreadShareOf(text, scripts)),
    close: () => pool.close(),
  };
}

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
  return { ...embedder, embed };
}

function bytesOf({ vectors, windows = [] }: Embedding, key: string): number {
  // A string takes up to two bytes for each unit.
  return (
    ENTRY_BYTES + 2 * key.length + vectors.byteLength + windows.length * 2 * Float64Array.BYTES_PER_ELEMENT
  );
}
