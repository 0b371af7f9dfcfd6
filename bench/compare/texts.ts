import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openEmbedder } from "../../dist/src/embedding/open.js";
import { memory, question } from "./memories.js";

/** Questions for each system. Each is asked only once, so that no cache answers it. */
const QUESTIONS = 200_000;
const EMBEDDED_AT_A_TIME = 256;

export interface Model {
  readonly model: string;
  readonly modelsDir: string;
}

/** Texts, questions, and the vectors of texts that not every system embeds again. */
export interface Corpus {
  readonly texts: readonly string[];
  readonly questions: readonly string[];
  readonly dimensions: number;
  readonly vectors: Float32Array;
  /** The same data as files, for other processes. */
  readonly vectorsPath: string;
}

/** Makes the texts, or reads them from the folder of an earlier run. */
export async function openCorpus(
  options: Model & { folder: string; texts: number; embedded: number; workers: number },
): Promise<Corpus> {
  const { folder, embedded } = options;
  mkdirSync(folder, { recursive: true });
  const texts = Array.from({ length: options.texts }, (_, i) => memory(i));
  const questions = Array.from({ length: QUESTIONS }, (_, i) => question(i));
  const embedder = await openEmbedder(options);
  try {
    const { revision, dimensions } = embedder.model;
    const hash = createHash("sha256")
      .update(revision + texts.slice(0, embedded).join("\n"))
      .digest("hex");
    const vectorsPath = join(folder, `${hash.slice(0, 16)}.f32`);
    if (!existsSync(vectorsPath)) {
      const made = await embedAll(embedder, texts.slice(0, embedded), dimensions);
      writeFileSync(`${vectorsPath}.part`, made);
      renameSync(`${vectorsPath}.part`, vectorsPath);
    }
    const bytes = readFileSync(vectorsPath);
    const vectors = new Float32Array(bytes.buffer, bytes.byteOffset, embedded * dimensions);
    return { texts, questions, dimensions, vectors, vectorsPath };
  } finally {
    await embedder.close();
  }
}

type Embedder = Awaited<ReturnType<typeof openEmbedder>>;

async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
  dimensions: number,
): Promise<Float32Array> {
  const rows = new Float32Array(texts.length * dimensions);
  for (let from = 0; from < texts.length; from += EMBEDDED_AT_A_TIME) {
    const some = texts.slice(from, from + EMBEDDED_AT_A_TIME);
    const read = await Promise.all(some.map((text) => embedder.embed({ text, field: "text", owner: "" })));
    for (const [i, { vectors }] of read.entries()) rows.set(vectors, (from + i) * dimensions);
    if (process.stderr.isTTY) process.stderr.write(`\rembedding ${from + some.length} texts `);
  }
  return rows;
}
