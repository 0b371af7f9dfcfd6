import { type Embedder, isRemote, SERVICE } from "../memory/ports/embedder.js";

const TIMING_MS = 2000;
/** Largest difference between a vector's length and 1: float32 over some thousand numbers. */
const LENGTH_ERROR_MAX = 1e-3;
/** Largest difference between two vectors of a text by a server, in each number. */
const REMOTE_ERROR_MAX = 1e-3;
const TEXTS = [
  "Every day begins for her with a pot of green tea.",
  "Einen zweiten Schlüssel zum Haus findet man unter dem blauen Blumentopf.",
  "星期二上午九点检查牙齿。",
] as const;

/** Checks the form of the model's vectors, times the model, and yields what it finds: facts, and problems. */
export async function* checkModel(
  embedder: Embedder,
): AsyncGenerator<{ fact: string } | { problem: string }> {
  const embed = async () => {
    const vectors = [];
    for (const text of TEXTS) {
      vectors.push((await embedder.embed({ text, field: "text", owner: SERVICE })).vectors);
    }
    return vectors;
  };
  const [first, second] = [await embed(), await embed()];
  const { dimensions } = embedder.model;
  const areFinite = first.every((vector) => vector.length === dimensions && vector.every(Number.isFinite));
  yield areFinite
    ? { fact: `vectors of ${dimensions} finite numbers` }
    : { problem: `a vector is not of ${dimensions} finite numbers` };
  const isNormal = first.every((vector) => Math.abs(Math.hypot(...vector) - 1) <= LENGTH_ERROR_MAX);
  yield isNormal ? { fact: "of length 1" } : { problem: "a vector is not of length 1" };
  const isSame = first.every((vector, i) => isSameVector(vector, second[i] as Float32Array, embedder));
  yield isSame
    ? { fact: "the same text gives the same vector" }
    : { problem: "the same text gives another vector" };
  yield { fact: await timing(embedder) };
}

/** A server may round otherwise from one request to the next. */
function isSameVector(a: Float32Array, b: Float32Array, { model }: Embedder): boolean {
  const errorMax = isRemote(model.id) ? REMOTE_ERROR_MAX : 0;
  return a.every((value, i) => Math.abs(value - (b[i] ?? Number.NaN)) <= errorMax);
}

async function timing(embedder: Embedder): Promise<string> {
  const beganMs = performance.now();
  let [texts, tokens, tookMs] = [0, 0, 0];
  while (tookMs < TIMING_MS) {
    const text = TEXTS[texts % TEXTS.length] as string;
    tokens += (await embedder.embed({ text, field: "text", owner: SERVICE })).tokens;
    texts++;
    tookMs = performance.now() - beganMs;
  }
  const perSecond = Math.round((tokens / tookMs) * 1000).toLocaleString("en-US");
  return `${perSecond} tokens a second in one thread, ${(tookMs / texts).toFixed(1)} ms for a short text`;
}
