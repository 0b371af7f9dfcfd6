import { readFileSync } from "node:fs";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { newDataDir } from "../../support/server.js";
import { run } from "./tool.js";

const RUNS_MAX = 3;
const TIMEOUT_MS = 180_000;

/** Cases that bare Node passes and this server fails on purpose, with the reason. */
const CHOSEN: ReadonlyMap<string, string> = new Map([
  [
    "http2/3.5: Sends invalid connection preface",
    "the port serves HTTP/1.1 too, and so answers bytes that are no HTTP/2 with an HTTP/1.1 400 before it closes",
  ],
]);

type Outcome = "passed" | "skipped" | "failed";
type Report = ReadonlyMap<string, Outcome>;

export interface Compared {
  readonly cases: number;
  readonly passed: number;
  readonly barePassed: number;
  /** Cases that fail here on purpose, with the reason. */
  readonly chosen: readonly string[];
}

/**
 * Runs h2spec against this server and against Node's own without our code. Some cases depend on timing: one
 * counts as failed if it fails each time, and as passed by Node if it passes once.
 *
 * @throws Error naming each case that Node passes and this server does not.
 */
export async function compareWithNode(h2spec: string, port: number): Promise<Compared> {
  const bare = await startBareServer();
  try {
    const ours = [await report(h2spec, port)];
    const nodes = [await report(h2spec, bare.port)];
    while (differences(ours, nodes).some(unexpected) && ours.length < RUNS_MAX) {
      ours.push(await report(h2spec, port));
      nodes.push(await report(h2spec, bare.port));
    }
    const different = differences(ours, nodes);
    const faults = different.filter(unexpected);
    if (faults.length > 0) throw new Error(`bare Node passes, and this server fails: ${faults.join("; ")}`);
    const [first, node] = [ours[0] as Report, nodes[0] as Report];
    const chosen = different.map((name) => `${name}: ${CHOSEN.get(name)}`);
    return { cases: first.size, passed: count(first), barePassed: count(node), chosen };
  } finally {
    await bare.close();
  }
}

function unexpected(name: string): boolean {
  return !CHOSEN.has(name);
}

function differences(ours: readonly Report[], nodes: readonly Report[]): string[] {
  const names = [...(nodes[0] as Report).keys()];
  return names.filter(
    (name) =>
      ours.every((each) => (each.get(name) ?? "failed") === "failed") &&
      nodes.some((each) => each.get(name) === "passed"),
  );
}

function count(report: Report): number {
  return [...report.values()].filter((outcome) => outcome === "passed").length;
}

async function report(h2spec: string, port: number): Promise<Report> {
  const file = join(newDataDir(), "report.xml");
  // The probe is the only path that always answers without a key.
  const args = ["--port", String(port), "--path", "/livez", "--timeout", "2", "--junit-report", file];
  const { output } = await run(h2spec, args, { timeoutMs: TIMEOUT_MS });
  const cases = readReport(readFileSync(file, "utf8"));
  if (cases.size === 0) throw new Error(`h2spec reports no case: ${output.slice(-1000)}`);
  return cases;
}

function readReport(xml: string): Report {
  const cases = xml.matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs,
  );
  return new Map([...cases].map(([, part, name, content = ""]) => [`${part}: ${name}`, outcomeOf(content)]));
}

function outcomeOf(content: string): Outcome {
  if (/<(error|failure)\b/.test(content)) return "failed";
  return content.includes("<skipped") ? "skipped" : "passed";
}

async function startBareServer(): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end("ok"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  // By now, h2spec has disconnected, and its broken connections are closed.
  return { port, close: async () => void server.close() };
}
