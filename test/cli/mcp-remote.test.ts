import { afterEach, describe, expect, it, vi } from "vitest";
import { Remote } from "../../cli/mcp/remote.js";
import { type Scripted, scriptedFetch } from "../clients/scripted.js";

afterEach(() => vi.unstubAllGlobals());

/** Asks a server that answers like this, under a new address each time that it is looked for. */
function ask(...answers: readonly Scripted[]) {
  const { fetch, requests } = scriptedFetch(...answers);
  vi.stubGlobal("fetch", fetch);
  let found = 0;
  const find = async () => ({ url: `http://server-${++found}.example/`, key: "rcl_1" });
  const remote = new Remote({ find, query: "?namespace=a" });
  const params = { name: "memory_store", arguments: { text: "tea" } };
  return { answer: remote.ask("tools/call", params, new AbortController().signal), requests };
}

const done = { status: 200, body: { jsonrpc: "2.0", id: 1, result: { content: [] } } };
const refused = (retryAfter: string) => ({
  status: 200,
  headers: { "retry-after": retryAfter },
  body: { result: { isError: true, content: [{ type: "text", text: "too many calls" }] } },
});

describe("a call of a server's /mcp", () => {
  it("is made again as the same call, where the server is found anew", async () => {
    const { answer, requests } = ask(new TypeError("fetch failed"), refused("0"), done);
    expect(await answer).toEqual({ content: [] });
    expect(requests.map(({ url }) => url)).toEqual([
      "http://server-1.example/mcp?namespace=a",
      ...Array(2).fill("http://server-2.example/mcp?namespace=a"),
    ]);
    expect(new Set(requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
  });

  it("ends with the tool's own words when the pause that it asks for is long", async () => {
    const { answer, requests } = ask(refused("3600"));
    expect(await answer).toMatchObject({ isError: true, content: [{ text: "too many calls" }] });
    expect(requests).toHaveLength(1);
  });

  it("is made again after a pause when the time to come back cannot be read", async () => {
    const begunMs = performance.now();
    expect(await ask(refused("soon"), done).answer).toEqual({ content: [] });
    expect(performance.now() - begunMs).toBeGreaterThan(120);
  });

  it("is never sent on to where a redirect leads", async () => {
    const { answer, requests } = ask({
      status: 307,
      headers: { location: "http://evil.example/mcp" },
      body: "",
    });
    await expect(answer).rejects.toThrow("redirects to http://evil.example/mcp");
    expect(requests).toHaveLength(1);
  });

  it.each([
    [{ error: { code: -32602, message: "there is no tool" } }, { code: -32602, message: "there is no tool" }],
    [{ code: "ok" }, { code: "unknown", message: "the answer is not of MCP" }],
  ])("fails where the answer is %j", async (body, error) => {
    await expect(ask({ status: 200, body }).answer).rejects.toMatchObject(error);
  });
});
