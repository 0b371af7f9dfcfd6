import { join } from "node:path";
import { signUp } from "../../support/caller.js";
import { newDataDir, startServer, type TestServer } from "../../support/server.js";
import { conform } from "./conformance.js";
import { compareWithNode } from "./h2spec.js";
import { inspect } from "./inspector.js";
import { explore } from "./schemathesis.js";
import { installTools, lastLine, type Tools } from "./tool.js";

const PROGRAM = join(import.meta.dirname, "../../../dist/src/recalld.js");
const CLIENT_TIMEOUT_MS = 300_000;

interface ForeignOptions {
  /** Number of examples that schemathesis makes of each operation. */
  readonly examples: number;
  readonly seed: number;
}

type Check = (tools: Tools, server: TestServer, options: ForeignOptions) => Promise<string>;

/** Foreign tools, each with its own server. Each returns one line of figures. */
const CHECKS: Readonly<Record<string, Check>> = {
  async grpcio({ python, folder }, { url, port }) {
    const { key } = await signUp(url);
    const script = join(import.meta.dirname, "python/client.py");
    const env = { PYTHONPATH: join(folder, "python"), PYTHONDONTWRITEBYTECODE: "1" };
    return lastLine(python, [script, `127.0.0.1:${port}`, key], { timeoutMs: CLIENT_TIMEOUT_MS, env });
  },

  async go({ goClient }, { url }) {
    const { key } = await signUp(url);
    return lastLine(goClient, [url, key], { timeoutMs: CLIENT_TIMEOUT_MS });
  },

  async mcp({ python }, { url }) {
    const { key } = await signUp(url);
    const script = join(import.meta.dirname, "python/mcp_client.py");
    const args = [script, url, key, process.execPath, PROGRAM, newDataDir()];
    return lastLine(python, args, { timeoutMs: CLIENT_TIMEOUT_MS });
  },

  async sdk({ node, folder }, { url }) {
    const { key } = await signUp(url);
    // Beside its packages, where it finds them.
    const args = [join(folder, "node/mcp-client.js"), url, key, process.execPath, PROGRAM, newDataDir()];
    return lastLine(node, args, { timeoutMs: CLIENT_TIMEOUT_MS });
  },

  inspector: inspect,
  conformance: conform,

  async schemathesis(tools, { url }, options) {
    const { cases, operations } = await explore(tools, { url, ...options });
    return `${cases} cases of ${operations} operations of /openapi.json, with all checks: 0 failures`;
  },

  async h2spec({ h2spec }, { port }) {
    const { cases, passed, barePassed, chosen } = await compareWithNode(h2spec, port);
    const meant = chosen.length === 0 ? "" : `, and ${chosen.length} is meant so`;
    return `${passed} of ${cases} cases passed, ${barePassed} by bare Node: 0 that only bare Node passes${meant}`;
  },
};

/**
 * Runs all tools.
 *
 * @throws Error with the findings of each tool, after all have run.
 */
export async function callByForeignTools(options: ForeignOptions): Promise<string> {
  const tools = await installTools();
  const [done, found]: [string[], string[]] = [[], []];
  for (const [name, check] of Object.entries(CHECKS)) {
    const server = await startServer({ env: { FREE_CALLS: "1000000000" } });
    try {
      const figures = await check(tools, server, options);
      expectNoFault(server);
      done.push(`${name}: ${figures}`);
      console.log(done.at(-1));
    } catch (error) {
      found.push(`${name}: ${(error as Error).message}`);
    } finally {
      await server.kill();
    }
  }
  if (found.length > 0) throw new Error(found.join("\n"));
  return done.join("; ");
}

/** Checks the log for answers with `internal`, and for faults that the tool did not notice. */
function expectNoFault({ output }: TestServer): void {
  const faults = output()
    .split("\n")
    .filter((line) => line.includes('"msg":"fault"'));
  if (faults.length > 0) throw new Error(`the server logged ${faults.length} faults, first ${faults[0]}`);
}
