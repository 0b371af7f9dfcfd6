import { Agent, request } from "node:http";
import { openEmbedder } from "../dist/src/embedding/open.js";
import { startServer } from "../test/support/server.js";
import { machine, percentile, timed } from "./machine.js";
import { question, sentence } from "./sentences.js";

// Measures the service's own share of a recall: p50 of POST /recall less p50 of the embedder alone. Both are
// measured in turns, so that other load on the machine affects both.

const MEMORIES = 1000;
const ROUNDS = 10;
const CALLS_PER_ROUND = 100;

const server = await startServer({ env: { FREE_CALLS: "1000000", LOG_LEVEL: "warn" } });
const embedder = await openEmbedder({ model: "bundled", modelsDir: server.dataDir, workers: 1 });
const agent = new Agent({ keepAlive: true });
let key = "";
key = String((await post("/signup", {})).api_key);

for (let i = 0; i < MEMORIES; i++) await post("/store", { text: sentence(i * 31), namespace: "bench" });
const recalls: number[] = [];
const embeddings: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  for (let i = 0; i < CALLS_PER_ROUND; i++) {
    const query = question(round * CALLS_PER_ROUND + i);
    recalls.push((await timed(() => post("/recall", { query, namespace: "bench" }))).ms);
  }
  for (let i = 0; i < CALLS_PER_ROUND; i++) {
    const text = question(round * CALLS_PER_ROUND + i);
    embeddings.push((await timed(() => embedder.embed({ text, field: "query", owner: "" }))).ms);
  }
}
await embedder.close();
agent.destroy();
await server.stop();

const line = (name: string, ms: number) => console.log(`${name.padEnd(28)}${ms.toFixed(2).padStart(8)} ms`);
console.log(
  `\n${MEMORIES} memories, local database, bundled model, 1 caller, ${recalls.length} calls each\n${machine()}\n`,
);
line("POST /recall p50", percentile(recalls, 0.5));
line("POST /recall p99", percentile(recalls, 0.99));
line("embedder alone p50", percentile(embeddings, 0.5));
line("handler overhead (p50 - p50)", percentile(recalls, 0.5) - percentile(embeddings, 0.5));

function post(path: string, body: object): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
    const call = request(server.url + path, { method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => {
        const answer = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(JSON.parse(answer));
        else reject(new Error(answer));
      });
    });
    call.on("error", reject).end(JSON.stringify(body));
  });
}
