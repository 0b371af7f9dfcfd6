import { parentPort, workerData } from "node:worker_threads";
import { revisionOf } from "../download/model-files.js";
import type { Pooling } from "../encode/convention.js";
import { costOf } from "../encode/cost.js";
import {
  type Encoder,
  type ModelOnDisk,
  openEncoder,
  type Question,
  type Reading,
} from "../encode/encoder.js";

/** What a thread says of the model it has loaded. */
export interface LoadedModel {
  readonly revision: string;
  readonly dimensions: number;
  readonly pooling: Pooling;
  /** What the model needs for a cost of 1, see `costOf`. */
  readonly msPerCost: number;
}

/** About as long as a window of a long text. */
const PROBE = "One sentence that a model reads to show how long it takes for such a text. ".repeat(4);

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
  const probe = await encoder.encode({ text: "probe", field: "text" });
  if (!("vector" in probe)) throw new Error("the model reads less than one word");
  const { pooling } = encoder.convention;
  const msPerCost = await measure(encoder);
  return { encoder, loaded: { revision, dimensions: probe.vector.length, pooling, msPerCost } };
}

/** Times the second of two runs: the first one of a new length is slow. */
async function measure(encoder: Encoder): Promise<number> {
  const question = { text: PROBE, field: "text" } as const;
  await encoder.encode(question);
  const beganMs = performance.now();
  await encoder.encode(question);
  return (performance.now() - beganMs) / costOf(PROBE);
}

const { encoder, loaded } = await load();

let answered: Promise<void> = Promise.resolve();
parentPort?.on("message", (question: Question) => {
  answered = answered.then(() => answer(question));
});
reply({ loaded });

async function answer(question: Question): Promise<void> {
  try {
    const beganMs = performance.now();
    const read = await encoder.encode(question);
    // Measured here: the main thread may be busy when the answer comes.
    const reading = { ...read, ms: performance.now() - beganMs };
    reply({ reading }, "vector" in reading ? [reading.vector.buffer] : []);
  } catch (error) {
    reply({ error: error instanceof Error ? error : new Error(String(error)) });
  }
}

function reply(message: Reply, transferred: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transferred);
}
