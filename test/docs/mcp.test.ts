import { describe, expect, test } from "vitest";
import { TOOL_SETS } from "../../src/server/mcp/tools/tools.js";
import { blocks, read, section } from "../support/documents.js";

describe("docs/mcp.md", () => {
  test("names every tool, and no other", () => {
    const [table = ""] = section("docs/mcp.md", "## Tools").split("\n### ");
    const named = [...table.matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name);
    expect(named).toEqual(TOOL_SETS.memory.map(({ name }) => name));
    for (const { name } of TOOL_SETS.search)
      expect(section("docs/mcp.md", "## Tools")).toContain(`\`${name}\``);
  });

  test("has settings that are JSON and start the program, or name /mcp and a header", () => {
    const settings = blocks(read("docs/mcp.md"), "json").map((block) => JSON.parse(block));
    expect(settings).toHaveLength(3);
    for (const { mcpServers, servers = mcpServers } of settings) {
      const { command, args, url, headers } = servers.recalld;
      if (command === undefined)
        expect([url, headers.Authorization]).toEqual([
          expect.stringMatching(/\/mcp$/),
          expect.stringMatching(/^Bearer /),
        ]);
      else expect([command, ...args]).toEqual(["recalld", "mcp"]);
    }
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
