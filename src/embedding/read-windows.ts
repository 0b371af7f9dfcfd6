import type { Embedding, EmbedInput } from "../memory/embedder.js";
import { mapSome } from "../memory/map-some.js";
import type { Pool } from "./pool.js";
import { inCodePoints, type Part } from "./windows.js";

/** Windows of one text that may wait for a thread at a time: others' texts are read in between. */
const PARTS_MAX = 4;

interface ReadPart extends Part {
  readonly vector: Float32Array;
}

/** Reads the windows of a text that is too long to be read at once. When one fails, the text does. */
export async function readWindows(
  pool: Pool,
  input: EmbedInput,
  parts: readonly Part[],
): Promise<Pick<Embedding, "vectors" | "windows">> {
  const failed = new AbortController();
  const signal = input.signal ? AbortSignal.any([input.signal, failed.signal]) : failed.signal;
  try {
    const read = await readParts(pool, { ...input, signal }, parts);
    const counts = inCodePoints(
      input.text,
      read.flatMap(({ start, end }) => [start, end]),
    );
    const at = (position: number) => counts.get(position) as number;
    return {
      vectors: endToEnd(read.map(({ vector }) => vector)),
      windows: read.map(({ start, end }) => ({ start: at(start), end: at(end) })),
    };
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

async function readParts(pool: Pool, input: EmbedInput, parts: readonly Part[]): Promise<ReadPart[]> {
  const read = await mapSome(
    unlike(input.text, parts),
    PARTS_MAX,
    async ({ start, end }): Promise<ReadPart[]> => {
      const part = { ...input, text: input.text.slice(start, end) };
      const reading = await pool.read(part);
      if ("vector" in reading) return [{ start, end, vector: reading.vector }];
      const inner = await readParts(pool, part, reading.parts);
      return inner.map((each) => ({ ...each, start: start + each.start, end: start + each.end }));
    },
  );
  return read.flat();
}

/** Without those that repeat an earlier one: hundreds of equal vectors would be an island in a graph. */
function unlike(text: string, parts: readonly Part[]): Part[] {
  const firsts = new Map<string, Part>();
  for (const part of parts) {
    const words = text.slice(part.start, part.end).trim();
    if (!firsts.has(words)) firsts.set(words, part);
  }
  return [...firsts.values()];
}

function endToEnd(vectors: readonly Float32Array[]): Float32Array {
  const dimensions = vectors[0]?.length ?? 0;
  const all = new Float32Array(vectors.length * dimensions);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * dimensions);
  return all;
}
