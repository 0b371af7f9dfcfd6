import { mkdtemp, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mapConcurrently } from "../dist/src/concurrency/map-concurrently.js";
import { locateModel } from "../dist/src/embedding/models/locate.js";
import { openEmbedder } from "../dist/src/embedding/open.js";
import { startServer } from "../test/support/server.js";
import { PythonDriver } from "./compare/python-driver.js";
import { pythonEnvironment } from "./compare/python-environment.js";
import { machine, percentile, timed } from "./machine.js";
import { sentence } from "./sentences.js";

// Measures how many memories a second are stored, by batches and one by one, beside the embedder alone with as
// many threads and Chroma, whose client embeds with the same weights, by batches and one by one. All are measured
// in turns, so that other load on the machine affects all. --alone leaves Chroma out, which needs Python.

const ROUNDS = Number(process.env.ROUNDS ?? 5);
/** Memories of one measurement. */
const MEMORIES = Number(process.env.MEMORIES ?? 1024);
const BATCH = 64;
const CALLERS = 16;
const workers = Number(process.env.WORKERS ?? Math.max(1, availableParallelism() - 1));

const server = await startServer({
  env: { PLANS_FILE: await plansFile(), EMBED_WORKERS: String(workers), LOG_LEVEL: "warn" },
});
const embedder = await openEmbedder({ model: "bundled", modelsDir: server.dataDir, workers });
const chroma = process.argv.includes("--alone") ? undefined : await openChroma();
const { api_key } = (await post("/signup", {})) as { api_key: string };

let stored = 0;
/** Makes texts that no other measurement has. */
const texts = (count: number) => Array.from({ length: count }, () => sentence(stored++ * 31));

const embed = async () => {
  await mapConcurrently(texts(MEMORIES), CALLERS, (text) =>
    embedder.embed({ text, field: "text", owner: "bench" }),
  );
};
const storeEach = (callers: number) => async () => {
  await mapConcurrently(texts(MEMORIES), callers, (text) => post("/store", { text, namespace: "single" }));
};
const storeBatches = (callers: number, size: number) => async () => {
  const batches = Array.from({ length: Math.ceil(MEMORIES / size) }, () => texts(size));
  await mapConcurrently(batches, callers, (batch) =>
    post("/store/batch", { namespace: "batch", memories: batch.map((text) => ({ text })) }),
  );
};
const chromaStores = (callers: number, size: number) => async () => {
  const from = stored;
  const secondsMax = 600;
  await chroma?.ask("store_many", { from, texts: texts(MEMORIES), size, callers, secondsMax });
};

const WAYS: readonly [name: string, work: () => Promise<void>][] = [
  ["embedder alone", embed],
  ["batches of 256, 1 caller", storeBatches(1, 256)],
  [`batches of ${BATCH}, 1 caller`, storeBatches(1, BATCH)],
  [`batches of ${BATCH}, ${CALLERS} callers`, storeBatches(CALLERS, BATCH)],
  ["single stores, 1 caller", storeEach(1)],
  [`single stores, ${CALLERS} callers`, storeEach(CALLERS)],
  ...(chroma === undefined ? [] : chromaWays()),
];

function chromaWays(): [name: string, work: () => Promise<void>][] {
  return [
    ["Chroma, batches of 256, 1 caller", chromaStores(1, 256)],
    [`Chroma, batches of ${BATCH}, ${CALLERS} callers`, chromaStores(CALLERS, BATCH)],
    [`Chroma, one by one, ${CALLERS} callers`, chromaStores(CALLERS, 1)],
  ];
}

const rates = new Map<string, number[]>(WAYS.map(([name]) => [name, []]));
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, work] of WAYS) {
    const { ms } = await timed(work);
    // The first round warms all of them.
    if (round > 0) rates.get(name)?.push((MEMORIES / ms) * 1000);
  }
}
await embedder.close();
await server.stop();
await chroma?.ask("stop");
await chroma?.end();

console.log(
  `\n${ROUNDS} rounds of ${MEMORIES} memories in turns, local database, bundled model, ${workers} threads\n${machine()}\n`,
);
const alone = rates.get("embedder alone") as number[];
for (const [name, own] of rates) {
  const shares = own.map((rate, round) => rate / (alone[round] as number));
  const rate = percentile(own, 0.5).toFixed(0).padStart(6);
  console.log(
    `${name.padEnd(36)}${rate} a second${percentile(shares, 0.5).toFixed(2).padStart(7)} of the embedder`,
  );
}

/** Starts Chroma's server, and a Python program that calls it. */
async function openChroma(): Promise<PythonDriver> {
  const python = pythonEnvironment(fileURLToPath(new URL("./.cache/python", import.meta.url)));
  const modelFolder = await locateModel({ model: "bundled", modelsDir: server.dataDir });
  const folder = await mkdtemp(join(tmpdir(), "recalld-bench-"));
  const driver = new PythonDriver({ python, modelFolder, folder }, "chroma");
  await driver.ask("start");
  return driver;
}

async function plansFile(): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), "recalld-bench-")), "plans.json");
  await writeFile(path, JSON.stringify({ free: { calls: null } }));
  return path;
}

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = {
    "content-type": "application/json",
    ...(path !== "/signup" && { authorization: `Bearer ${api_key}` }),
  };
  const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as { results?: { error?: unknown }[] };
  const failure = answer.results?.find(({ error }) => error !== undefined);
  if (!response.ok || failure) throw new Error(JSON.stringify(failure ?? answer));
  return answer;
}
