import { openEmbedder } from "../../dist/src/embedding/open.js";
import { run } from "./load.js";
import { type DriverOptions, PythonDriver } from "./python-driver.js";
import type { LoadOptions, Measured } from "./system.js";
import type { Corpus, Model } from "./texts.js";

/** The floor: recalls that only embed their question, and stores that only embed their text. */
export interface BareEmbedder extends Measured {
  vectors(texts: readonly string[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Opens recalld's own pool of threads. */
export async function openNodeEmbedder(
  options: Model & { workers: number; corpus: Corpus },
): Promise<BareEmbedder> {
  const { texts, questions } = options.corpus;
  const embedder = await openEmbedder(options);
  const embed = (text: string | undefined, field: "query" | "text") =>
    embedder.embed({ text: text as string, field, owner: "" });
  return {
    recall: (load) => run((i) => embed(questions[i], "query"), load),
    store: (load) => run((i) => embed(texts[i], "text"), load),
    vectors: async (some) =>
      (await Promise.all(some.map((text) => embed(text, "text")))).map(({ vectors }) => vectors),
    close: () => embedder.close(),
  };
}

/** Opens the embedder that the clients in Python use. */
export function openPythonEmbedder(options: DriverOptions & { corpus: Corpus }): BareEmbedder {
  const { texts, questions } = options.corpus;
  const driver = new PythonDriver(options, "embedder");
  const embed = (all: readonly string[], { from, count, callers, secondsMax }: LoadOptions) =>
    driver.load("embed", { texts: all.slice(from, from + count), callers, secondsMax });
  return {
    recall: (load) => embed(questions, load),
    store: (load) => embed(texts, load),
    vectors: async (some) => {
      const { vectors } = await driver.ask("vectors", { texts: some });
      return (vectors as number[][]).map((vector) => Float32Array.from(vector));
    },
    close: () => driver.end(),
  };
}

/**
 * Checks that both embedders give the same vectors.
 *
 * @throws Error when they do not, because a comparison would mean nothing.
 */
export async function agreement(
  one: BareEmbedder,
  other: BareEmbedder,
  texts: readonly string[],
): Promise<number> {
  const [ours, theirs] = await Promise.all([one.vectors(texts), other.vectors(texts)]);
  const cosines = ours.map((vector, i) =>
    vector.reduce((sum, x, at) => sum + x * (theirs[i]?.[at] ?? Number.NaN), 0),
  );
  const lowest = Math.min(...cosines);
  if (!(lowest > 0.999)) throw new Error(`the embedders differ: the lowest cosine is ${lowest}`);
  return lowest;
}
