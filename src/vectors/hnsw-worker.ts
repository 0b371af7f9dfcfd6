import { parentPort, workerData } from "node:worker_threads";
import { Index, MetricKind, ScalarKind } from "usearch";

/**
 * The thread that owns one HNSW graph. Every call into usearch holds its thread, so a graph lives in
 * one of its own, and messages are answered in the order they came.
 */
export type Request =
  | { readonly op: "add"; readonly sequences: BigUint64Array; readonly rows: Float32Array }
  | { readonly op: "search"; readonly vector: Float32Array; readonly limit: number };

export type Reply = { readonly sequences: BigUint64Array } | { readonly error: string };

const { dimensions } = workerData as { dimensions: number };

// bf16, 16, 128: recall@10 .989 on 90,772 real texts at half the memory of float32, measured.
const index = new Index({
  dimensions,
  metric: MetricKind.Cos,
  quantization: ScalarKind.BF16,
  connectivity: 16,
  expansion_add: 128,
  expansion_search: 256,
  multi: false,
});

function answer(request: Request): Reply {
  switch (request.op) {
    case "add":
      // One thread: after single-threaded adds a search with more throws.
      index.add(request.sequences, request.rows, 1);
      return { sequences: new BigUint64Array() };
    case "search":
      return { sequences: index.search(request.vector, request.limit, 1).keys };
  }
}

parentPort?.on("message", (request: Request) => {
  let reply: Reply;
  try {
    reply = answer(request);
  } catch (error) {
    reply = { error: String(error) };
  }
  parentPort?.postMessage(reply);
});
