import { describe, expect, test } from "vitest";
import { TOOL_SETS } from "../../src/server/mcp/tools/tools.js";
import { blocks, quoted, read, rows, section } from "../support/documents.js";
import { faultsIn, HOSTS, isCommand, tomlOf } from "./mcp-hosts.js";

/** Reads all configurations of a part: files, and those within a sentence, which may name a server alone. */
function configurationsIn(part: string, host: string): Record<string, unknown>[] {
  const key = host === "VS Code" ? "servers" : "mcpServers";
  const within = inSentences(part);
  return [
    ...blocks(part, "json").map((block) => JSON.parse(block)),
    ...blocks(part, "toml").map(tomlOf),
    ...within.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text)),
    ...within
      .filter((text) => text.startsWith('"recalld": {'))
      .map((text) => ({ [key]: JSON.parse(`{${text}}`) })),
  ];
}

/** Lists the code within sentences. */
const inSentences = (part: string) => quoted(part.replace(/^```.*?^```$/gms, ""));

/** Renames a field of all servers of a file, or takes it for another type if none has it. */
function changed(file: Record<string, unknown>, name: string): unknown {
  const text = JSON.stringify(file);
  return JSON.parse(text.includes(`"${name}"`) ? text.replace(`"${name}"`, `"${name}s"`) : "[]");
}

/** Returns the version that is pinned for the tests, or for the foreign tools. */
function versionOf(where: string | undefined, name: string): string | undefined {
  if (where === "python")
    return new RegExp(`^${name}==(.*)$`, "m").exec(read("test/faults/foreign/requirements.txt"))?.[1];
  const folder = where === undefined ? "" : "test/faults/foreign/node/";
  const { dependencies, devDependencies } = JSON.parse(read(`${folder}package.json`));
  return { ...dependencies, ...devDependencies }[name];
}

describe("docs/mcp.md", () => {
  test("names every tool, and no other", () => {
    const [table = ""] = section("docs/mcp.md", "## Tools").split("\n### ");
    const named = [...table.matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name);
    expect(named).toEqual(TOOL_SETS.memory.map(({ name }) => name));
    for (const { name } of TOOL_SETS.search)
      expect(section("docs/mcp.md", "## Tools")).toContain(`\`${name}\``);
  });

  test("names the clients in the versions that the tests have", () => {
    const [sdk, client, python, inspector, suite] = [
      ["node", "@modelcontextprotocol/sdk"],
      [undefined, "@modelcontextprotocol/client"],
      ["python", "mcp"],
      ["node", "@modelcontextprotocol/inspector"],
      ["node", "@modelcontextprotocol/conformance"],
    ].map(([where, name]) => versionOf(where, name as string));
    const listed = section("docs/mcp.md", "## Tested clients");
    const named = rows(listed).map(([name]) => /\d[\d.]+\d/.exec(name ?? "")?.[0]);
    expect(named).toEqual([client, sdk, python, inspector]);
    expect(listed).toContain(
      `[conformance suite](https://github.com/modelcontextprotocol/conformance) ${suite},`,
    );
  });

  describe.each(HOSTS)("has set-up lines for %s", (host) => {
    const part = section("docs/mcp.md", "## Set-up").split(`### ${host}\n`)[1]?.split("\n### ")[0] ?? "";
    const files = configurationsIn(part, host);

    test("that are of its documented schema, for a server and for this machine", () => {
      for (const file of files) expect(faultsIn(host, file)).toEqual([]);
      const lines = blocks(part, "sh")
        .join("")
        .split("\n")
        .concat(inSentences(part))
        .filter((line) => /^(claude|codex) mcp /.test(line));
      for (const line of lines) expect([line, isCommand(host, line)]).toEqual([line, true]);
      const all = [...files.map((file) => JSON.stringify(file)), ...lines].join("\n");
      expect(all).toMatch(/https:\/\/memory\.example/);
      expect(all.replace(/\W+/g, " ")).toMatch(/recalld( args)? mcp/);
    });

    test("which another name or a missing field would not be", () => {
      for (const file of files) {
        for (const wrong of [
          { ...file, more: 1 },
          { server: {} },
          changed(file, "url"),
          changed(file, "command"),
        ])
          expect(faultsIn(host, wrong)).not.toEqual([]);
      }
    });
  });
});

describe("server.json", () => {
  test("is of this package and version, with a description that the registry takes", () => {
    const server = JSON.parse(read("server.json"));
    const { name, version, mcpName } = JSON.parse(read("package.json"));
    expect(server).toMatchObject({ name: mcpName, version, packages: [{ identifier: name, version }] });
    expect(server.description.length).toBeLessThanOrEqual(100);
  });
});
