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

/** Properties of the model that a thread has loaded. */
export interface LoadedModel {
  readonly revision: string;
  readonly dimensions: number;
  readonly pooling: Pooling;
  /** Milliseconds for a cost of 1, see `costOf`. */
  readonly msPerCost: number;
  /** Scripts that it can read; undefined if its files cannot tell. */
  readonly scripts: readonly string[] | undefined;
}

/** Sample text, about as long as a window of a long text. */
const PROBE = "One sentence that a model reads to show how long it takes for such a text. ".repeat(4);

const MEASURED_RUNS = 3;

/** A thread's reply: one for the start, then one for every text, in order. */
export type Reply =
  | { readonly loaded: LoadedModel }
  | { readonly reading: Reading }
  | { readonly error: Error };

const onDisk = workerData as ModelOnDisk;

async function load() {
  const revision = await revisionOf(onDisk.folder);
  const encoder = await openEncoder(onDisk);
  // It tells the number of dimensions, and takes the slow first run off the first caller.
  const probe = await encoder.encode({ text: "probe", field: "text" });
  if (!("vector" in probe)) throw new Error("the model reads less than one word");
  const { scripts } = encoder;
  const { pooling } = encoder.convention;
  const msPerCost = await measure(encoder);
  return { encoder, loaded: { revision, dimensions: probe.vector.length, pooling, msPerCost, scripts } };
}

/** Times a few runs and takes the fastest, because the machine may be busy for a moment. */
async function measure(encoder: Encoder): Promise<number> {
  const question = { text: PROBE, field: "text" } as const;
  // The first run of a new length is slow.
  await encoder.encode(question);
  let fastestMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < MEASURED_RUNS; i++) {
    const beganMs = performance.now();
    await encoder.encode(question);
    fastestMs = Math.min(fastestMs, performance.now() - beganMs);
  }
  return fastestMs / costOf(PROBE);
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
    // The time is measured here, because the main thread may be busy when the answer arrives.
    const reading = { ...read, ms: performance.now() - beganMs };
    reply({ reading }, "vector" in reading ? [reading.vector.buffer] : []);
  } catch (error) {
    reply({ error: error instanceof Error ? error : new Error(String(error)) });
  }
}

function reply(message: Reply, transferred: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transferred);
}
