// Calls recalld with version 1 of the official MCP client for TypeScript, which most agents have by now:
// `mcp-client.js URL KEY NODE PROGRAM HOME`. Ends with one line of figures.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, key, command, program, home] = process.argv.slice(2);
const NAMES = ["store", "recall", "list", "update", "update_many", "forget", "namespaces"].map(
  (name) => `memory_${name}`,
);
const OPTIONS = { timeout: 120_000 };
let calls = 0;

const overStdio = (env) =>
  new StdioClientTransport({ command, args: [program, "mcp"], env: { HOME: home, ...env } });
const WAYS = {
  HTTP: () =>
    new StreamableHTTPClientTransport(new URL(`${url}/mcp?namespace=sdk1`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }),
  stdio: () => overStdio({ RECALLD_URL: url, RECALLD_API_KEY: key }),
  "stdio without a server": () => overStdio({}),
};

/** Lists the tools, stores, recalls, updates and forgets. The client checks answers against their schemas. */
async function live(client) {
  const call = async (name, given = {}) => {
    calls++;
    return client.callTool({ name, arguments: given }, undefined, OPTIONS);
  };
  const data = async (...given) => (await call(...given)).structuredContent;
  assert.deepEqual(
    (await client.listTools()).tools.map(({ name }) => name),
    NAMES,
  );
  const { id } = await data("memory_store", { text: "Ada prefers tea.", metadata: { source: "chat" } });
  const question = { query: "What does Ada like to drink?" };
  assert.deepEqual(
    (await data("memory_recall", question)).memories.map((each) => each.id),
    [id],
  );
  await data("memory_update", { id, text: "Ada prefers milk." });
  assert.equal((await data("memory_recall", question)).memories[0].text, "Ada prefers milk.");
  const refused = await call("memory_store", { text: " " });
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, /text is blank/);
  assert.deepEqual(await data("memory_forget", { ids: [id] }), { deleted: 1 });
  assert.deepEqual((await data("memory_list")).memories, []);
}

for (const [way, open] of Object.entries(WAYS)) {
  const client = new Client({ name: "recalld-test", version: "1" });
  try {
    await client.connect(open(), OPTIONS);
    await live(client);
  } catch (error) {
    throw new Error(`${way}: ${error.message}`, { cause: error });
  } finally {
    await client.close();
  }
}
console.log(`${calls} calls of tools, ${Object.keys(WAYS).join(", ")}: all as expected`);
