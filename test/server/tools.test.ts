import { describe, expect, it } from "vitest";
import { callTool } from "../../src/server/mcp/tools/call.js";
import type { Json } from "../../src/server/mcp/tools/tool.js";
import { TOOL_SETS } from "../../src/server/mcp/tools/tools.js";

/** Calls a tool; resolves with its text, and with what it asked. */
async function calling(name: string, args: Json) {
  const tool = TOOL_SETS.memory.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no ${name}`);
  const asked: Json[] = [];
  const scope = { namespace: undefined, readOnly: false, tools: "memory", site: "" } as const;
  const ask = async (_: string, request: Json) => {
    asked.push(request);
    return { id: "mem_1", results: [], namespaces: [] };
  };
  const { content } = await callTool(tool, args, { scope, ask });
  return { text: (content[0] as { text: string }).text, asked };
}

describe("the arguments of a tool", () => {
  it.each([
    [{}, 33],
    [{ page_size: 2 }, 2],
    [{ page_size: 50 }, 33],
    [{ page_size: 101 }, 101],
    [{ page_size: "2" }, "2"],
  ])("have a size of a page of namespaces, which the budget may lower: %j", async (given, page_size) => {
    const { asked } = await calling("memory_namespaces", given);
    expect(asked).toEqual([{ ...given, page_size }]);
  });

  it("are all held against its own, though another that only the RPC knows comes first", async () => {
    const { text, asked } = await calling("memory_recall", { query: "tea", fields: "id", minFit: 0.4 });
    expect(text).toContain("minFit is no argument of memory_recall; did you mean min_fit?");
    expect(asked).toEqual([]);
  });

  it.each([
    [{ on_similar: "SUPERSEDE" }, { on_similar: "SUPERSEDE", similar_above: 0.88 }],
    [{ onSimilar: "SUPERSEDE" }, { onSimilar: "SUPERSEDE", similar_above: 0.88 }],
    [
      { onSimilar: "KEEP", similarAbove: 0.95 },
      { onSimilar: "KEEP", similarAbove: 0.95 },
    ],
    [{}, { similar_above: 0.8 }],
  ])("of the RPC count under either name: %j", async (given, expected) => {
    const { asked } = await calling("memory_store", { text: "tea", ...given });
    expect(asked).toEqual([{ text: "tea", namespace: "default", ...expected }]);
  });
});
