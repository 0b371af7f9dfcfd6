import { serialQueue } from "../../concurrency/serial-queue.js";
import { handleCalls } from "../../concurrency/worker-handlers.js";
import type { Pooling } from "../encode/convention.js";
import { costOf } from "../encode/cost.js";
import {
  type Encoded,
  type Encoder,
  type ModelOnDisk,
  openEncoder,
  type Question,
} from "../encode/encoder.js";
import { verifyModel } from "../models/model-files.js";

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

/** Set by `load`, before any text comes. */
let encoder: Encoder;
const enqueueEncoding = serialQueue();

async function load(onDisk: ModelOnDisk): Promise<LoadedModel> {
  const { revision, damaged } = await verifyModel(onDisk.folder);
  if (damaged.length > 0) {
    const what = `${damaged.join(", ")} does not match the hash of its download`;
    throw new Error(`${what}; without it, the next start downloads it again`);
  }
  encoder = await openEncoder(onDisk);
  // It tells the number of dimensions, and takes the slow first run off the first caller.
  const probe = await encoder.encode({ text: "probe", field: "text" });
  if (!("vector" in probe)) throw new Error("the model reads less than one word");
  const { convention, scripts } = encoder;
  const { pooling } = convention;
  return { revision, dimensions: probe.vector.length, pooling, msPerCost: await measure(), scripts };
}

/** Times a few runs and takes the fastest, because the machine may be busy for a moment. */
async function measure(): Promise<number> {
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

/** Reads texts one after the other. */
function encode(question: Question): Promise<Encoded> {
  return enqueueEncoding(async () => {
    const beganMs = performance.now();
    const found = await encoder.encode(question);
    // The time is measured here, because the main thread may be busy when the answer arrives.
    return { ...found, ms: performance.now() - beganMs };
  });
}

const handlers = { load, encode };
export type EmbeddingHandlers = typeof handlers;
handleCalls(handlers);
