import { readdirSync, readFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { signUp } from "../../support/caller.js";
import { newDataDir, type TestServer } from "../../support/server.js";
import { run, type Tools } from "./tool.js";

const TIMEOUT_MS = 300_000;
/** Revisions of the protocol whose requirements are run, and scenarios that must pass whole. */
const REVISIONS = {
  "2025-11-25": ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
  "2026-07-28": [
    ...["tools-list", "http-header-validation", "dns-rebinding-protection", "server-sse-multiple-streams"],
    ...["input-required-result-unsupported-methods", "input-required-result-validate-input"],
  ],
} as const;

/** Reasons for which a check cannot pass here, by what the suite says of it. */
const REASONS = {
  "need a tool of the suite's own example server": [
    /there is no tool \w+|Tool '\w+' not found|diagnostic tool '\w+'|no tool with x-mcp-header/,
    // They build on an answer of such a tool.
    /^Expected InputRequiredResult|could not get initial InputRequiredResult/,
  ],
  "are about what recalld does not offer, and does not declare: prompts, resources, completion, log levels": [
    /Method not found/,
  ],
} as const;
const EXTENSION = "are about the extension for tasks";

interface Check {
  readonly scenario: string;
  readonly id: string;
  readonly status: string;
  readonly said: string;
}

/**
 * Runs the requirements of the protocol's own conformance suite against `/mcp`. The suite sends no key, so a proxy
 * adds one.
 *
 * @throws Error naming each check that fails for no known reason, and scenarios that no longer pass.
 */
export async function conform(tools: Tools, { url }: TestServer): Promise<string> {
  const { key } = await signUp(url);
  const proxy = await addingKey(url, key);
  try {
    const told: string[] = [];
    for (const [revision, whole] of Object.entries(REVISIONS)) {
      const { port } = proxy.address() as AddressInfo;
      const checks = await checksOf(tools, { url: `http://localhost:${port}/mcp`, revision });
      told.push(`${revision}: ${judged(checks, whole)}`);
    }
    return told.join("; ");
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

/** Opens a port that passes requests on as they are, with a key. */
async function addingKey(url: string, key: string): Promise<Server> {
  const { hostname, port } = new URL(url);
  const proxy = createServer((asked, answer) => {
    const { method, url: path } = asked;
    const headers = { ...asked.headers, authorization: `Bearer ${key}` };
    const onwards = request({ hostname, port, path, method, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(answer);
    });
    onwards.on("error", () => answer.destroy());
    asked.pipe(onwards);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return proxy;
}

async function checksOf(
  { node, nodeModules }: Tools,
  { url, revision }: { url: string; revision: string },
): Promise<Check[]> {
  const suite = join(nodeModules, "@modelcontextprotocol/conformance/dist/index.js");
  const found = newDataDir();
  const args = [suite, "server", "--url", url, "--requirements", revision, "-o", found];
  const { output } = await run(node, args, { timeoutMs: TIMEOUT_MS });
  const folders = readdirSync(found);
  if (folders.length === 0) throw new Error(output.slice(-2_000));
  return folders.flatMap((folder) => {
    const scenario = folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const checks = JSON.parse(readFileSync(join(found, folder, "checks.json"), "utf8")) as Record<
      string,
      string
    >[];
    return checks.map(({ id = "", status = "", errorMessage: said = "" }) => ({
      scenario,
      id,
      status,
      said,
    }));
  });
}

/** Reports what passed, and why the rest did not. @throws Error */
function judged(checks: readonly Check[], whole: readonly string[]): string {
  const failed = checks.filter(({ status }) => status === "FAILURE");
  const passed = checks.filter(({ status }) => status === "SUCCESS");
  const reasons = new Map<string, number>();
  const faults = whole.filter(
    (name) =>
      failed.some(({ scenario }) => scenario === name) || !passed.some(({ scenario }) => scenario === name),
  );
  for (const check of failed) {
    const reason = reasonOf(check);
    if (reason === undefined) faults.push(`${check.scenario} ${check.id}: ${check.said}`);
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
  const why = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(", ");
  return `${passed.length} of ${passed.length + failed.length} checks pass; of the rest ${why}`;
}

function reasonOf({ scenario, said }: Check): string | undefined {
  if (scenario.startsWith("tasks-")) return EXTENSION;
  return Object.entries(REASONS).find(([, patterns]) => patterns.some((each) => each.test(said)))?.[0];
}
