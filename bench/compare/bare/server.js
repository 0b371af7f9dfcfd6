import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { createServer } from "node:http";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { Index, MetricKind, ScalarKind } from "usearch";
import { openEncoder } from "../../../dist/src/embedding/encode/encoder.js";

// The least that a server in Node can do for a recall: read JSON, embed the query, search one graph, answer
// five texts. It checks no key, counts no call and stores nothing. Its parent fills it and ends it over IPC.

const TOP_K = 5;
const ADDED_AT_A_TIME = 10_000;
const CREATED_AT = new Date().toISOString();

const { kind, model, dimensions, workers, neighbours = TOP_K } = JSON.parse(process.argv[2]);
const texts = [];
const index = new Index({
  dimensions,
  metric: MetricKind.Cos,
  quantization: ScalarKind.BF16,
  connectivity: 16,
  expansion_add: 128,
  expansion_search: 64,
  multi: false,
});
const embed = kind === "main" ? await embedHere() : await embedInThreads();

async function embedHere() {
  const encoder = await openEncoder(model);
  return async (text) => (await encoder.encode({ text, field: "query" })).vector;
}

async function embedInThreads() {
  const threads = await Promise.all(Array.from({ length: workers }, startThread));
  return (text) => threads.reduce((a, b) => (b.waiting.length < a.waiting.length ? b : a)).embed(text);
}

/** Starts a thread that answers texts in their order. */
function startThread() {
  const worker = new Worker(new URL("./thread.js", import.meta.url), { workerData: model });
  const waiting = [];
  const embed = (text) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      worker.postMessage(text);
    });
  return new Promise((resolve) => {
    worker.once("message", () => {
      worker.on("message", (vector) => waiting.shift()(vector));
      resolve({ embed, waiting });
    });
  });
}

async function recall(body) {
  const { query, namespace } = JSON.parse(body);
  // The library reads a typed array's buffer from its first byte, so a part of one would be misread.
  const { keys, distances } = index.search((await embed(query)).slice(), neighbours, 1);
  const found = Array.from(keys.slice(0, TOP_K), (key, i) => ({
    id: `mem_${key}`,
    text: texts[Number(key)],
    score: 1 - distances[i],
    metadata: {},
    created_at: CREATED_AT,
  }));
  return JSON.stringify({ results: found, namespace });
}

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", async () => {
    const answer = await recall(body);
    const length = Buffer.byteLength(answer);
    response.writeHead(200, { "content-type": "application/json", "content-length": length });
    response.end(answer);
  });
});

/** Adds texts to the graph, or loads the graph that another kind of this server has made of the same ones. */
function fill({ from, some, vectorsPath, graphPath }) {
  texts.push(...some);
  if (existsSync(graphPath)) {
    index.load(graphPath);
    return;
  }
  const file = openSync(vectorsPath, "r");
  for (let at = 0; at < some.length; at += ADDED_AT_A_TIME) {
    const size = Math.min(ADDED_AT_A_TIME, some.length - at);
    const rows = new Float32Array(size * dimensions);
    readSync(file, rows, 0, rows.byteLength, (from + at) * dimensions * 4);
    const keys = BigUint64Array.from({ length: size }, (_, i) => BigInt(from + at + i));
    index.add(keys, rows, availableParallelism());
  }
  closeSync(file);
  index.save(graphPath);
}

process.on("disconnect", () => process.exit(0));
process.on("message", (filling) => {
  fill(filling);
  process.send("filled");
});
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
