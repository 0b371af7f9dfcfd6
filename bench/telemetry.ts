import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { startServer, type TestServer } from "../test/support/server.js";
import { machine, mainThreadMs, percentile, timed } from "./machine.js";
import { question, sentence } from "./sentences.js";

// Measures the cost of metrics and traces: the same recalls at servers with and without them, in turns, so
// that other load on the machine affects all. The main thread does all of that work, so its processor time
// tells more than the clock.

const MEMORIES = 1000;
const ROUNDS = Number(process.env.ROUNDS ?? 30);
const CALLS_PER_ROUND = 200;
const CALLERS = 4;

const collector = createServer((incoming, response) => incoming.resume().on("end", () => response.end()));
await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
const tracing = (ratio: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT,
  OTEL_TRACES_SAMPLER: "traceidratio",
  OTEL_TRACES_SAMPLER_ARG: ratio,
});

const variants: Record<string, Record<string, string>> = {
  "without either": {},
  "without either, again": {},
  metrics: { METRICS_PORT: "0" },
  "traces of 10 %": tracing("0.1"),
  "metrics, traces of 10 %": { METRICS_PORT: "0", ...tracing("0.1") },
  "metrics, traces of all": { METRICS_PORT: "0", ...tracing("1") },
};

interface Measured {
  readonly name: string;
  readonly server: TestServer;
  readonly key: string;
  readonly latenciesMs: number[];
  /** Processor time of the main thread for one call, by round. */
  readonly processorMs: number[];
}

const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
const measured: Measured[] = [];
for (const [name, env] of Object.entries(variants)) {
  const server = await startServer({ env: { FREE_CALLS: "1000000", LOG_LEVEL: "warn", ...env } });
  const key = String((await post(server.url, "/signup", {}, "")).api_key);
  for (let i = 0; i < MEMORIES; i++) {
    await post(server.url, "/store", { text: sentence(i * 31), namespace: "bench" }, key);
  }
  measured.push({ name, server, key, latenciesMs: [], processorMs: [] });
}
for (let round = -2; round < ROUNDS; round++) {
  // The order changes each time, because work that one server leaves, such as sending spans, falls on the
  // next.
  for (const one of shuffled(measured)) {
    const { latenciesMs, processorMs } = await recalls(one, round);
    if (round < 0) continue;
    one.latenciesMs.push(...latenciesMs);
    one.processorMs.push(processorMs);
  }
}
agent.destroy();

const scrapes: number[] = [];
const { server: scraped } = measured.find(({ name }) => name === "metrics") as Measured;
for (let i = 0; i < 50; i++) {
  scrapes.push((await timed(async () => (await fetch(scraped.metricsUrl)).text())).ms);
}
for (const { server } of measured) await server.stop();
collector.close();

const [base] = measured as [Measured];
const median = (values: readonly number[]) => percentile(values, 0.5);
console.log(
  `\n${MEMORIES} memories, local database, bundled model, ${CALLERS} callers, ${ROUNDS * CALLS_PER_ROUND} recalls each, in turns\n${machine()}\n`,
);
console.log(`${"".padEnd(28)}${"p50".padStart(10)}${"main thread, for a recall".padStart(30)}`);
for (const { name, latenciesMs, processorMs } of measured) {
  // Each round is compared with the base's of the same round, so that load on the machine affects both.
  const ratios = processorMs.map((ms, i) => ms / (base.processorMs[i] as number));
  const share = `${((median(ratios) - 1) * 100).toFixed(1)} %`;
  console.log(
    `${name.padEnd(28)}${`${median(latenciesMs).toFixed(2)} ms`.padStart(10)}${`${median(processorMs).toFixed(2)} ms, ${name === base.name ? "" : share.padStart(7)}`.padStart(30)}`,
  );
}
console.log(`\none scrape: ${median(scrapes).toFixed(1)} ms`);

async function recalls({ server, key }: Measured, round: number) {
  const latenciesMs: number[] = [];
  const beforeMs = mainThreadMs(server.pid);
  const caller = async (first: number) => {
    for (let i = first; i < CALLS_PER_ROUND; i += CALLERS) {
      const query = question((round + 2) * CALLS_PER_ROUND + i);
      const call = () => post(server.url, "/recall", { query, namespace: "bench" }, key);
      latenciesMs.push((await timed(call)).ms);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, first) => caller(first)));
  return { latenciesMs, processorMs: (mainThreadMs(server.pid) - beforeMs) / CALLS_PER_ROUND };
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

function post(url: string, path: string, body: object, key: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
    const call = request(url + path, { method: "POST", agent, headers }, (response) => {
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
