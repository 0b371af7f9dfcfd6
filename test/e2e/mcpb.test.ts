import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, it } from "vitest";
import { signUp } from "../support/caller.js";
import { connect } from "../support/mcp.js";
import { sharedServer, type TestServer } from "../support/server.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = `${ROOT}/dist/mcpb`;
const BYTES_MAX = 2_000_000;

describe("the bundle for desktop apps", () => {
  let server: TestServer;
  beforeAll(async () => {
    execFileSync(process.execPath, ["scripts/build-mcpb.js"], { cwd: ROOT });
    server = await sharedServer();
  }, 60_000);

  const manifest = () => JSON.parse(readFileSync(`${FOLDER}/manifest.json`, "utf8"));

  it("describes itself, and asks for all that the program needs", () => {
    const { version, user_config: asked, server: started } = manifest();
    expect(version).toBe(JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")).version);
    const given = Object.values<string>(started.mcp_config.env).map(
      (value) => /\{user_config\.(\w+)\}/.exec(value)?.[1],
    );
    expect(given).toEqual(Object.keys(asked));
    expect(statSync(`${FOLDER}/${started.entry_point}`).size).toBeLessThan(BYTES_MAX);
  });

  it("brings the licences of all that is compiled into it", () => {
    const licenses = readFileSync(`${FOLDER}/server/licenses.md`, "utf8");
    const named = [...licenses.matchAll(/^## (\S+) - /gm)].map(([, name]) => name);
    expect(named).toEqual(expect.arrayContaining(["@modelcontextprotocol/server", "zod"]));
    expect(licenses).toContain("Permission is hereby granted");
  });

  it("speaks to a server with what the user has given, in the shape of the manifest", async () => {
    const { key } = await signUp(server.url);
    const { command, args, env } = manifest().server.mcp_config;
    const given: Record<string, string> = { url: server.url, key, namespace: "desk" };
    const filled = (value: string) =>
      value
        .replace(/\$\{__dirname\}/, FOLDER)
        .replace(/\$\{user_config\.(\w+)\}/, (_, name) => given[name] ?? "");
    const settings = Object.entries<string>(env).map(([name, value]) => [name, filled(value)]);
    const transport = new StdioClientTransport({
      command: command === "node" ? process.execPath : command,
      args: args.map(filled),
      env: Object.fromEntries(settings),
    });
    const { client, call } = await connect(transport);
    expect((await client.listTools()).tools).toHaveLength(7);
    expect((await call("memory_store", { text: "Ada prefers tea." })).data.namespace).toBe("desk");
    const { data } = await call("memory_recall", { query: "What does Ada drink?" });
    expect(data.memories[0].text).toBe("Ada prefers tea.");
    await client.close();
  });
});
