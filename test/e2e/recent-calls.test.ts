import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { DATABASES } from "../support/databases.js";
import { type Door, doorsOf } from "../support/doors.js";
import { ok, openAccount } from "../support/keys.js";
import type { TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const PROTOCOLS: Readonly<Record<string, string>> = {
  "plain paths": "json",
  "Connect JSON": "connect",
  "Connect binary": "connect",
  "Connect binary over HTTP/2": "connect",
  gRPC: "grpc",
  "gRPC-Web": "grpc-web",
};

describe.each(DATABASES)("the log of recent calls, on $name", ({ missing, make }) => {
  describe.skipIf(missing !== undefined)(missing ?? "", () => {
    let server: TestServer;
    let plain: Door;
    beforeAll(async () => {
      server = await (await make()).start();
      plain = doorsOf(server.url)[0] as Door;
    });
    afterAll(() => server?.stop());

    const callsOf = async (key: string, request: JsonObject = {}) =>
      (await ok(plain, "ListRecentCalls", { request, key })).calls as JsonObject[];

    it.each(Object.entries(PROTOCOLS))("has calls through %s with their outcome", async (name, protocol) => {
      const door = doorsOf(server.url).find((each) => each.name === name) as Door;
      const { keys } = await openAccount(plain);
      const header = { "x-request-id": "trace-me" };
      await door.call("Store", { text: "a secret", namespace: "mine" }, { key: keys.full, header });
      await door.call("Store", { text: "", namespace: "mine" }, { key: keys.full });
      await door.call("Store", { text: "b", namespace: "mine" }, { key: keys["read-only"] });
      await door.call("GetMemory", { namespace: "mine", id: "mem_none" }, { key: keys.full });
      const calls = await callsOf(keys.full, { page_size: 4 });
      expect(calls.map(({ method, code }) => [String(method).split("/")[1], code])).toEqual([
        ["GetMemory", "invalid_argument"],
        ["Store", "permission_denied"],
        ["Store", "invalid_argument"],
        ["Store", "ok"],
      ]);
      for (const call of calls) expect(call.protocol).toBe(protocol);
      const [read, refused, , stored] = calls;
      expect(stored).toMatchObject({
        method: "recalld.v1.MemoryService/Store",
        key_id: read?.key_id,
        request_id: "trace-me",
      });
      expect(refused?.key_id).not.toBe(read?.key_id);
      expect(stored?.duration_ms).toBeGreaterThan(0);
      expect(Math.abs(Date.now() - Date.parse(String(stored?.start_time)))).toBeLessThan(60_000);
      expect(JSON.stringify(calls)).not.toMatch(/secret|mine/);
    });

    it("has the calls of agents' tools", async () => {
      const { keys } = await openAccount(plain);
      const message = {
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: "memory_recall", arguments: { query: "a", namespace: "mine" } },
      };
      const headers = {
        ...{ authorization: `Bearer ${keys.full}`, "content-type": "application/json" },
        accept: "application/json, text/event-stream",
      };
      await fetch(`${server.url}/mcp`, { method: "POST", headers, body: JSON.stringify(message) });
      const [call] = await callsOf(keys.full);
      expect(call).toMatchObject({
        method: "recalld.v1.MemoryService/Recall",
        protocol: "mcp",
        code: "ok",
      });
    });

    it("lists failures alone on request, does not list itself, and costs nothing", async () => {
      const { keys } = await openAccount(plain);
      await ok(plain, "Recall", { request: { query: "a", namespace: "mine" }, key: keys.full });
      await plain.call("Recall", { query: "", namespace: "mine" }, { key: keys.full });
      const before = await ok(plain, "GetAccount", { key: keys.full });
      expect(await callsOf(keys.full, { errors_only: true })).toMatchObject([{ code: "invalid_argument" }]);
      const all = await callsOf(keys.full);
      expect(all.map(({ method }) => method)).not.toContain("recalld.v1.AccountService/ListRecentCalls");
      const after = await ok(plain, "GetAccount", { key: keys.full });
      expect(after.calls_used).toBe(before.calls_used);
    });

    it("shows a key for one namespace its own calls and its own share alone", async () => {
      const { keys } = await openAccount(plain);
      await ok(plain, "Recall", { request: { query: "a", namespace: "other" }, key: keys.full });
      await ok(plain, "Recall", { request: { query: "a", namespace: "mine" }, key: keys.full });
      await ok(plain, "Recall", { request: { query: "a", namespace: "mine" }, key: keys.mine });
      const seen = await callsOf(keys.mine);
      expect(new Set(seen.map(({ key_id }) => key_id)).size).toBe(1);
      const usage = await ok(plain, "GetUsage", { request: { days: 1 }, key: keys.mine });
      expect(usage.keys).toMatchObject([{ key_id: seen[0]?.key_id, recalls: 1 }]);
      expect(usage.namespaces).toMatchObject([{ namespace: "mine", recalls: 2 }]);
      const all = await ok(plain, "GetUsage", { request: { days: 1 }, key: keys.full });
      expect(all.namespaces).toMatchObject([
        { namespace: "mine", recalls: 2 },
        { namespace: "other", recalls: 1 },
      ]);
      expect((all.keys as JsonObject[]).map(({ recalls }) => recalls)).toEqual([2, 1]);
    });

    it("is of one account alone, and refuses a revoked key", async () => {
      const [one, two] = [await openAccount(plain), await openAccount(plain)];
      await ok(plain, "Recall", { request: { query: "a", namespace: "mine" }, key: one.keys.full });
      const others = await callsOf(two.keys.full);
      expect(others.map(({ method }) => method)).not.toContain("recalld.v1.MemoryService/Recall");
      const refused = await plain.call("ListRecentCalls", {}, { key: one.keys.revoked });
      expect(refused.code).toBe("unauthenticated");
    });
  });
});
