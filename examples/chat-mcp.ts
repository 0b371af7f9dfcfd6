// A chat that remembers, by MCP: npx tsx examples/chat-mcp.ts
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { reply } from "./model.js";

const { RECALLD_API_KEY: key = "", RECALLD_URL: url = "http://127.0.0.1:8080" } = process.env;
const { CHAT_USER: namespace = "ana" } = process.env;

const client = new Client({ name: "chat", version: "1.0.0" });
const address = new URL(`${url}/mcp?namespace=${encodeURIComponent(namespace)}`);
const requestInit = { headers: { authorization: `Bearer ${key}` } };
await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));

/** Calls a tool. With a real model, hand it the tools of `client.listTools()`, and let it call them. */
async function call(name: string, given: Record<string, unknown>) {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: given });
  if (isError) throw new Error(`${name}: ${JSON.stringify(content)}`);
  return structuredContent as { memories: { text: string }[] };
}

for await (const said of createInterface({ input: process.stdin })) {
  const { memories } = await call("memory_recall", { query: said, min_fit: 0.4 });
  const { say, remember } = reply(
    said,
    memories.map(({ text }) => text),
  );
  if (remember !== undefined) await call("memory_store", { text: remember });
  console.log(say);
}
await client.close();
