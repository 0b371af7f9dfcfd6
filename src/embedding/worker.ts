import { parentPort, workerData } from "node:worker_threads";
import type { Pooling } from "./convention.js";
import { type ModelOnDisk, openEncoder, type Question, type Reading } from "./encoder.js";
import { revisionOf } from "./model-files.js";

/** What a thread says of the model it has loaded. */
export interface LoadedModel {
  readonly revision: string;
  readonly dimensions: number;
  readonly tokensMax: number;
  readonly pooling: Pooling;
}

/** One for the start, then one for every text, in order. */
export type Reply =
  | { readonly loaded: LoadedModel }
  | { readonly reading: Reading }
  | { readonly error: Error };

const onDisk = workerData as ModelOnDisk;

async function load() {
  const revision = await revisionOf(onDisk.folder);
  const encoder = await openEncoder(onDisk);
  // Tells the dimensions, and takes the slow first run off the first caller.
  const { vector } = await encoder.encode({ text: "probe", field: "text" });
  if (vector === undefined) throw new Error("the model reads less than one word");
  const { tokensMax, convention } = encoder;
  const { pooling } = convention;
  return { encoder, loaded: { revision, dimensions: vector.length, tokensMax, pooling } };
}

const { encoder, loaded } = await load();

parentPort?.on("message", async (question: Question) => {
  try {
    const reading = await encoder.encode(question);
    reply({ reading }, reading.vector ? [reading.vector.buffer] : []);
  } catch (error) {
    reply({ error: error instanceof Error ? error : new Error(String(error)) });
  }
});
reply({ loaded });

function reply(message: Reply, transferred: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transferred);
}
