import { deepEqual, match, notEqual } from "node:assert/strict";
import { join } from "node:path";
import { signUp } from "../../support/caller.js";
import { newDataDir, type TestServer } from "../../support/server.js";
import { type Ran, run, type Tools } from "./tool.js";

const PROGRAM = join(import.meta.dirname, "../../../dist/src/recalld.js");
const TIMEOUT_MS = 120_000;
/** Eras of the protocol, as the Inspector names them: that of the handshake (2025), and the current one. */
const ERAS = ["legacy", "modern"] as const;
const TOOLS = ["store", "recall", "list", "update", "update_many", "forget", "namespaces"].map(
  (name) => `memory_${name}`,
);
/** Exit code of the Inspector for a tool's result that is an error. */
const REFUSED = 5;
const QUESTION = "What does Ada like to drink?";

/** Runs the Inspector for one method. */
type Ask = (method: string, ...more: readonly string[]) => Promise<Ran & { data: Json }>;
// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes.
type Json = any;

/**
 * Calls a server by the command line of the MCP Inspector, a process for each call: over HTTP, and over stdio with
 * a server's address and without one, in both eras of the protocol.
 *
 * @throws Error for the first answer that is not as expected.
 */
export async function inspect(tools: Tools, { url }: TestServer): Promise<string> {
  const { key } = await signUp(url);
  let calls = 0;
  const ways = waysTo({ url, key });
  for (const [way, target] of Object.entries(ways)) {
    for (const era of ERAS) {
      const ask: Ask = async (...method) => {
        calls++;
        return answerOf(tools, [...target, "--protocol-era", era, "--method", ...method]);
      };
      await live(ask, era).catch((error) => {
        throw new Error(`${way}, ${era}: ${(error as Error).message}`);
      });
    }
  }
  return `${calls} calls, ${Object.keys(ways).join(", ")}, eras ${ERAS.join(" and ")}: all as expected`;
}

/** Returns the Inspector's arguments for each way to the tools. */
function waysTo({ url, key }: { url: string; key: string }): Record<string, readonly string[]> {
  const program = [process.execPath, PROGRAM, "mcp"];
  const named = ["-e", `RECALLD_URL=${url}`, "-e", `RECALLD_API_KEY=${key}`];
  return {
    HTTP: [
      `${url}/mcp?namespace=inspector`,
      "--transport",
      "http",
      "--header",
      `Authorization: Bearer ${key}`,
    ],
    stdio: [...program, ...named],
    "stdio without a server": [...program, "-e", `DATA_DIR=${newDataDir()}`],
  };
}

async function answerOf(
  { node, nodeModules }: Tools,
  args: readonly string[],
): Promise<Ran & { data: Json }> {
  const inspector = join(nodeModules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  const cli = [inspector, "--cli", ...args, "--connect-timeout", String(TIMEOUT_MS)];
  // The program must find no settings but those that it is given.
  const env = { HOME: newDataDir(), RECALLD_URL: undefined, RECALLD_API_KEY: undefined };
  const ran = await run(node, cli, { timeoutMs: TIMEOUT_MS, env });
  // What it says of an error beside the answer is on one line.
  const json = /^\{$.*^\}$/ms.exec(ran.output)?.[0];
  if (json === undefined) throw new Error(ran.output.slice(-2_000));
  return { ...ran, data: JSON.parse(json) };
}

/** Lists the tools, stores, recalls, updates and forgets. */
async function live(ask: Ask, era: (typeof ERAS)[number]): Promise<void> {
  // Strict: an error in a schema that some client would not take ends it with another code.
  const { code, data } = await ask("tools/list", "--strict");
  deepEqual([code, data.tools.map(({ name }: Json) => name)], [0, TOOLS]);
  const call = async (name: string, ...args: readonly string[]) => {
    const pairs = args.length === 0 ? [] : ["--tool-arg", ...args];
    const answer = await ask("tools/call", "--tool-name", name, ...pairs);
    // Only answers of the current era name the server.
    const server = answer.data._meta?.["io.modelcontextprotocol/serverInfo"]?.name;
    deepEqual(server, era === "modern" ? "recalld" : undefined);
    return answer;
  };
  const result = async (...given: Parameters<typeof call>) => (await call(...given)).data.structuredContent;
  const { id } = await result("memory_store", "text=Ada prefers tea.", 'metadata={"source":"chat"}');
  const found = await result("memory_recall", `query=${QUESTION}`);
  deepEqual([found.memories.length, found.memories[0].id], [1, id]);
  await result("memory_update", `id=${id}`, "text=Ada prefers milk.");
  deepEqual((await result("memory_recall", `query=${QUESTION}`)).memories[0].text, "Ada prefers milk.");
  const blank = await call("memory_store", "text= ");
  deepEqual([blank.code, blank.data.isError], [REFUSED, true]);
  match(blank.data.content[0].text, /text is blank/);
  deepEqual(await result("memory_forget", `ids=${JSON.stringify([id])}`), { deleted: 1 });
  deepEqual((await result("memory_list")).memories, []);
  notEqual(await result("memory_namespaces"), undefined);
}
