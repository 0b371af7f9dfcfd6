import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { open } from "lmdb";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { DATABASES, MONGO_DATABASE, type TestDatabase } from "../support/databases.js";
import { ok, openAccount } from "../support/keys.js";
import { type Protocol, protocolsOf } from "../support/protocols.js";
import { newDataDir, type TestServer } from "../support/server.js";
import { openBrowserSession } from "../support/sessions.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const PROTOCOL_LABELS: Readonly<Record<string, string>> = {
  "plain paths": "json",
  "Connect JSON": "connect",
  "Connect binary": "connect",
  "Connect binary over HTTP/2": "connect",
  gRPC: "grpc",
  "gRPC-Web": "grpc-web",
};

describe.each(DATABASES)("the record of calls, on $name", ({ missing, make }) => {
  describe.skipIf(missing !== undefined)(missing ?? "", () => {
    let database: TestDatabase;
    let server: TestServer;
    let plain: Protocol;
    beforeAll(async () => {
      database = await make();
      server = await database.start();
      plain = protocolsOf(server.url)[0] as Protocol;
    });
    afterAll(() => server?.stop());

    const callsOf = async (key: string, request: JsonObject = {}) =>
      (await ok(plain, "ListRecentCalls", { request, key })).calls as JsonObject[];

    it.each(Object.entries(PROTOCOL_LABELS))(
      "has calls through %s with their outcome",
      async (name, label) => {
        const protocol = protocolsOf(server.url).find((each) => each.name === name) as Protocol;
        const { keys } = await openAccount(plain);
        const header = { "x-request-id": "trace-me" };
        await protocol.call("Store", { text: "a secret", namespace: "mine" }, { key: keys.full, header });
        await protocol.call("Store", { text: "", namespace: "mine" }, { key: keys.full });
        await protocol.call("Store", { text: "b", namespace: "mine" }, { key: keys["read-only"] });
        await protocol.call("GetMemory", { namespace: "mine", id: "mem_none" }, { key: keys.full });
        const calls = await callsOf(keys.full, { page_size: 4 });
        expect(calls.map(({ method, code }) => [String(method).split("/")[1], code])).toEqual([
          ["GetMemory", "invalid_argument"],
          ["Store", "permission_denied"],
          ["Store", "invalid_argument"],
          ["Store", "ok"],
        ]);
        for (const call of calls) expect(call.protocol).toBe(label);
        const [read, refused, , stored] = calls;
        expect(stored).toMatchObject({
          method: "recalld.v1.MemoryService/Store",
          key_id: read?.key_id,
          request_id: "trace-me",
        });
        expect(refused?.key_id).not.toBe(read?.key_id);
        expect(stored?.duration_ms).toBeGreaterThan(0);
        expect(Math.abs(Date.now() - Date.parse(String(stored?.start_time)))).toBeLessThan(60_000);
        expect(calls.map(({ message, namespace }) => [namespace, message])).toEqual([
          ["mine", "id is not of the form mem_…, 30 characters"],
          ["mine", "this key may only read: it cannot store or delete"],
          ["mine", "text is missing"],
          ["mine", ""],
        ]);
        expect(JSON.stringify(calls)).not.toMatch(/secret/);
      },
    );

    it("has the calls of agents' tools", async () => {
      const { keys } = await openAccount(plain);
      const message = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "memory_recall", arguments: { query: "a", namespace: "mine" } },
      };
      const headers = {
        authorization: `Bearer ${keys.full}`,
        "content-type": "application/json",
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

    it("lists the calls of a method, a key, an outcome and a namespace", async () => {
      const { keys } = await openAccount(plain);
      await ok(plain, "Recall", { request: { query: "a", namespace: "mine" }, key: keys.full });
      await ok(plain, "Recall", { request: { query: "a", namespace: "other" }, key: keys.full });
      await ok(plain, "Recall", { request: { query: "a", namespace: "mine" }, key: keys["read-only"] });
      await plain.call("GetMemory", { namespace: "mine", id: "mem_none" }, { key: keys.full });
      const all = await callsOf(keys.full, { page_size: 4 });
      const [failed, readOnly, other, first] = all;
      for (const method of ["Recall", "recalld.v1.MemoryService/Recall"]) {
        expect(await callsOf(keys.full, { method })).toMatchObject([readOnly, other, first]);
      }
      expect(await callsOf(keys.full, { code: "invalid_argument" })).toEqual([failed]);
      const inOther = await callsOf(keys.full, { namespace: "other" });
      expect(inOther[0]).toEqual(other);
      for (const { namespace } of inOther) expect(namespace).toBe("other");
      const key_id = String(readOnly?.key_id);
      const ofKey = await callsOf(keys.full, { key_id });
      expect(ofKey[0]).toEqual(readOnly);
      for (const call of ofKey) expect(call.key_id).toBe(key_id);
      const headers = { authorization: `Bearer ${keys.full}` };
      const url = `${server.url}/calls?method=Recall&code=ok&namespace=mine&key_id=${key_id}`;
      expect(await (await fetch(url, { headers })).json()).toMatchObject({ calls: [readOnly] });
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

    it("leaves out what the portal does in its session", async () => {
      const { keys } = await openAccount(plain);
      await plain.call("Recall", { query: "a", namespace: "portal" }, { key: keys.full });
      const { header } = await openBrowserSession(server.url, keys.full);
      const answer = await fetch(`${server.url}/recalld.v1.MemoryService/Recall`, {
        method: "POST",
        headers: { ...header, "content-type": "application/json" },
        body: JSON.stringify({ query: "a", namespace: "portal" }),
      });
      expect(answer.status).toBe(200);
      const named = (await callsOf(keys.full)).filter(({ namespace }) => namespace === "portal");
      expect(named).toHaveLength(1);
    });

    it("forgets a namespace that is deleted, and an account that is closed", async () => {
      const { id, keys } = await openAccount(plain);
      const call = { namespace: "Ana", key: keys.full };
      await ok(plain, "Store", { request: { text: "a", namespace: "Ana" }, ...call });
      await ok(plain, "Recall", { request: { query: "a", namespace: "Bob" }, ...call });
      await ok(plain, "DeleteNamespace", { request: { namespace: "Ana", force: true }, ...call });
      const calls = await callsOf(keys.full, { page_size: 2 });
      expect(calls.map(({ method, namespace }) => [String(method).split("/")[1], namespace])).toEqual([
        ["DeleteNamespace", ""],
        ["Recall", "Bob"],
      ]);
      const { namespaces } = await ok(plain, "GetUsage", { key: keys.full });
      expect(namespaces).toMatchObject([{ namespace: "Bob" }]);
      await ok(plain, "CloseAccount", { request: { account_id: id }, ...call });
      expect((await recordsIn(database, server)).filter((record) => record.includes(id))).toEqual([]);
    });

    it("holds no text, query, metadata or other word of a request, also of calls that failed", async () => {
      const { id, keys } = await openAccount(plain);
      const failed = await sendEverywhere(server.url, keys.full);
      expect(failed).toBeGreaterThan(25);
      const calls = await callsOf(keys.full, { errors_only: true, page_size: 100 });
      expect(calls).toHaveLength(failed);
      const records = (await recordsIn(database, server)).filter((record) => record.includes(id));
      expect(records.length).toBeGreaterThan(failed);
      for (const record of records) expect(record).not.toMatch(new RegExp(`${WORD}|${NUMBER}`, "i"));
      const messages = calls.filter(({ message }) => message !== "");
      expect(messages.length).toBeGreaterThan(failed - 5);
    });

    it("loses no more than the last second to kill -9", async () => {
      const { keys } = await openAccount(plain);
      const recall = () => plain.call("Recall", { query: "a", namespace: "mine" }, { key: keys.full });
      for (let i = 0; i < 20; i++) await recall();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      for (let i = 0; i < 5; i++) await recall();
      await server.kill();
      server = await database.start();
      plain = protocolsOf(server.url)[0] as Protocol;
      const recalls = (await callsOf(keys.full)).filter(({ method }) => String(method).endsWith("/Recall"));
      expect(recalls.length).toBeGreaterThanOrEqual(20);
    });
  });
});

describe.skipIf(MONGO_DATABASE.missing !== undefined)(
  `the record of calls, on two replicas over ${MONGO_DATABASE.name}`,
  () => {
    it("is the same within a second", async () => {
      const database = await MONGO_DATABASE.make();
      const servers = await Promise.all([database.start(), database.start()]);
      const protocols = servers.map(({ url }) => protocolsOf(url)[0] as Protocol) as [Protocol, Protocol];
      const { keys } = await openAccount(protocols[0]);
      for (let i = 0; i < 6; i++) {
        const request = { query: "a", namespace: "mine" };
        await ok(protocols[i % 2] as Protocol, "Recall", { request, key: keys.full });
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const lists = await Promise.all(
        protocols.map((protocol) => ok(protocol, "ListRecentCalls", { key: keys.full })),
      );
      expect(lists[0]?.calls).toEqual(lists[1]?.calls);
      const usage = await Promise.all(
        protocols.map((protocol) => ok(protocol, "GetUsage", { key: keys.full })),
      );
      expect(usage.map(({ namespaces }) => namespaces)).toMatchObject([[{ recalls: 6 }], [{ recalls: 6 }]]);
      await ok(protocols[0], "Store", { request: { text: "a", namespace: "mine" }, key: keys.full });
      // What the other replica has not written yet, the sweep erases in a minute: test/memory/erasing-calls.test.ts.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await ok(protocols[1], "DeleteNamespace", {
        request: { namespace: "mine", force: true },
        key: keys.full,
      });
      for (const protocol of protocols) {
        const { namespaces } = await ok(protocol, "GetUsage", { key: keys.full });
        expect(namespaces).toEqual([]);
      }
      await Promise.all(servers.map(({ stop }) => stop()));
    });
  },
);

/** Reads all records as the database has them. */
async function recordsIn({ env }: TestDatabase, server: TestServer): Promise<string[]> {
  if (env.MONGODB_URI !== undefined) {
    const client = await MongoClient.connect(env.MONGODB_URI);
    const found = await client.db().collection("calls").find().toArray();
    await client.close();
    return found.map((record) => JSON.stringify(record));
  }
  // A copy, because only one process may have the file itself open.
  const copy = join(newDataDir(), "copy.mdb");
  await copyFile(join(server.dataDir, "recalld.mdb"), copy);
  const root = open({ path: copy, readOnly: true });
  const calls = root.openDB<Buffer, string[]>("calls", { encoding: "binary" });
  const found = [...calls.getRange()].map(({ key, value }) => `${key} ${value.toString()}`);
  await root.close();
  return found;
}

const WORD = "Zanzibarquux";
const NUMBER = "90071992547409931";

/** Sends a word in every place of a request where an error might repeat it; returns how many calls failed. */
async function sendEverywhere(url: string, key: string): Promise<number> {
  const n = { namespace: "n" };
  const long = WORD.repeat(6_000);
  const metadataOf = (json: string) => `{"text": "a", "namespace": "n", "metadata": ${json}}`;
  const asked: [path: string, body: unknown, header?: Record<string, string>][] = [
    ["Store", { ...n, text: WORD, metadata: { [WORD]: WORD } }],
    ["Store", { ...n, text: long }],
    ["Store", { ...n, text: WORD, [WORD]: WORD }],
    ["Store", { ...n, text: { [WORD]: WORD } }],
    ["Store", { ...n, text: "a", metadata: { a: long } }],
    ["Store", { ...n, text: "a", metadata: WORD }],
    ["Store", metadataOf(`{"${WORD}": 1, "${WORD}": 2}`)],
    ["Store", metadataOf(`{"${WORD}": ${NUMBER}}`)],
    ["Store", metadataOf(`{"${WORD}": -0}`)],
    ["Store", metadataOf(`{"${WORD}": 1${NUMBER}e999}`)],
    ["Store", `{"text": "${WORD}`],
    ["Store", `{"${WORD}": 1, "${WORD}": 2}`],
    ["Store", { ...n, text: WORD, onConflict: WORD }],
    ["Store", { ...n, text: WORD, expireTime: WORD }],
    ["Store", { ...n, text: WORD, externalId: `${WORD}\u0001` }],
    ["Store", { ...n, text: WORD, supersedes: [WORD] }],
    ["Store", { ...n, text: WORD }, { "idempotency-key": WORD.repeat(30) }],
    ["StoreBatch", { ...n, memories: [{ text: "a", [WORD]: WORD }] }],
    ["StoreBatch", { ...n, memories: [{ text: "a", metadata: { [WORD]: 1 }, supersedes: WORD }] }],
    ["Recall", { ...n, query: WORD }],
    ["Recall", { ...n, query: long }],
    ["Recall", { ...n, query: "a", filter: { [WORD]: { $gt: { a: 1 } } } }],
    ["Recall", { ...n, query: "a", filter: { [`$${WORD}`]: 1 } }],
    ["Recall", { ...n, query: "a", filter: { a: { [`$${WORD}`]: 1 } } }],
    ["Recall", { ...n, query: "a", filter: { a: { [WORD]: 1 } } }],
    ["Recall", { ...n, query: "a", filter: { $and: [{ [`a.${WORD}`]: { $in: WORD } }] } }],
    ["Recall", { ...n, query: "a", filter: { created_at: { $gt: WORD } } }],
    ["Recall", { ...n, query: "a", fields: WORD }],
    ["Recall", { ...n, query: "a", mode: WORD }],
    ["Recall", { ...n, query: "a", topK: Number(NUMBER) }],
    ["UpdateMemory", { ...n, id: "mem_01h455vb4pex5vsknk084sn02q", text: "a", updateMask: WORD }],
    ["GetMemory", { ...n, id: WORD }],
    ["ListMemories", { ...n, pageToken: WORD }],
    [`/recall?${WORD}=${WORD}`, { ...n, query: "a" }],
  ];
  let failed = 0;
  for (const [path, body, header] of asked) {
    const answer = await fetch(
      path.startsWith("/") ? url + path : `${url}/recalld.v1.MemoryService/${path}`,
      {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...header },
        body: typeof body === "string" ? body : JSON.stringify(body),
      },
    );
    if (answer.status !== 200) failed++;
    await answer.arrayBuffer();
  }
  const query = await fetch(`${url}/calls?${WORD}=${WORD}`, { headers: { authorization: `Bearer ${key}` } });
  return query.status === 200 ? failed : failed + 1;
}
