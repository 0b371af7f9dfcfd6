import { type Embedder, SERVICE } from "../../memory/ports/embedder.js";
import type { ConventionSettings } from "../convention/find-convention.js";
import type { OpenEmbedder } from "../open.js";
import { PARAPHRASES, type Paraphrase } from "./paraphrases.js";
import { type Apart, dot, isToldApart, tellApart } from "./tell-apart.js";

/** Shortest time for which the model is timed. */
const TIMING_MS = 2000;
/** Largest difference between a vector's length and 1: float32 over some thousand numbers. */
const LENGTH_ERROR_MAX = 1e-3;
/** Ratio from which the model counts as better without its prefixes; a smaller one is chance. */
const BETTER_BY = 1.25;

export interface Finding {
  readonly kind: "fact" | "warning" | "problem";
  readonly text: string;
}

/** Opens the model with its own settings or with others. */
export type OpenModel = (settings?: ConventionSettings) => Promise<OpenEmbedder>;

/** Tries the model on a few sentences and yields each finding. */
export async function* checkModel(open: OpenModel): AsyncGenerator<Finding> {
  const embedder = await open();
  try {
    yield* checkVectors(embedder);
    yield* checkMeaning(embedder, open);
    yield fact(await timing(embedder));
  } finally {
    await embedder.close();
  }
}

const ENGLISH = PARAPHRASES.English as readonly Paraphrase[];

async function* checkVectors(embedder: Embedder): AsyncGenerator<Finding> {
  const texts = ENGLISH.map(({ passage }) => passage);
  const read = async () => {
    const vectors = [];
    for (const text of texts)
      vectors.push((await embedder.embed({ text, field: "text", owner: SERVICE })).vectors);
    return vectors;
  };
  const [first, second] = [await read(), await read()];
  const { dimensions } = embedder.model;
  const areFinite = first.every((vector) => vector.length === dimensions && vector.every(Number.isFinite));
  yield areFinite
    ? fact(`vectors of ${dimensions} finite numbers`)
    : problem("a vector has numbers that are not finite");
  const isNormal = first.every((vector) => Math.abs(Math.sqrt(dot(vector, vector)) - 1) <= LENGTH_ERROR_MAX);
  yield isNormal ? fact("of length 1") : problem("a vector is not of length 1");
  const isSame = first.every((vector, i) => vector.every((value, j) => value === second[i]?.[j]));
  yield isSame ? fact("the same text gives the same vector") : problem("the same text gives another vector");
}

async function* checkMeaning(embedder: OpenEmbedder, open: OpenModel): AsyncGenerator<Finding> {
  const known: [language: string, apart: Apart][] = [];
  for (const [language, paraphrases] of Object.entries(PARAPHRASES)) {
    const apart = await tellApart(embedder, paraphrases);
    const { right, of, own, other } = apart;
    yield fact(
      `${language}: ${right} of ${of} answers score above all others; ` +
        `${own.toFixed(2)} with their question, ${other.toFixed(2)} with others`,
    );
    if (isToldApart(apart)) known.push([language, apart]);
  }
  if (known.length === 0) {
    yield problem("it tells what answers a question from what does not in no language that was tried");
  }
  const { queryPrefix, passagePrefix } = embedder.convention.convention;
  if (queryPrefix === "" && passagePrefix === "") return;
  yield* compareBare(known, open);
}

/** Compares the model with and without its prefixes: wrong ones make it worse, without an error. */
async function* compareBare(known: readonly [string, Apart][], open: OpenModel): AsyncGenerator<Finding> {
  const bare = await open({ queryPrefix: "", passagePrefix: "" });
  try {
    for (const [language, paraphrases] of Object.entries(PARAPHRASES)) {
      const without = await tellApart(bare, paraphrases);
      const apart = known.find(([each]) => each === language)?.[1];
      if (apart === undefined && !isToldApart(without)) continue;
      const isWorse =
        apart === undefined ||
        apart.right < without.right ||
        (apart.right === without.right && apart.separation * BETTER_BY < without.separation);
      const shown = `${language} without prefixes: ${without.right} of ${without.of}, apart by ${deviations(without)}`;
      if (isWorse)
        yield warning(`${shown}; with them ${apart ? deviations(apart) : "it fails"}: are they right?`);
      else yield fact(`${shown}; with them ${deviations(apart)}`);
    }
  } finally {
    await bare.close();
  }
}

function deviations({ separation }: Apart): string {
  return `${separation.toFixed(1)} standard deviations`;
}

async function timing(embedder: Embedder): Promise<string> {
  const beganMs = performance.now();
  let [texts, tokens, tookMs] = [0, 0, 0];
  while (tookMs < TIMING_MS) {
    const { passage } = ENGLISH[texts % ENGLISH.length] as Paraphrase;
    tokens += (await embedder.embed({ text: passage, field: "text", owner: SERVICE })).tokens;
    texts++;
    tookMs = performance.now() - beganMs;
  }
  const perSecond = Math.round((tokens / tookMs) * 1000).toLocaleString("en-US");
  return `${perSecond} tokens a second in one thread, ${(tookMs / texts).toFixed(1)} ms for a short text`;
}

function fact(text: string): Finding {
  return { kind: "fact", text };
}

function warning(text: string): Finding {
  return { kind: "warning", text };
}

function problem(text: string): Finding {
  return { kind: "problem", text };
}
