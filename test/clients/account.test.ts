import { beforeAll, describe, expect, test } from "vitest";
import { type NamespaceClient, Recalld, signUp } from "../../clients/typescript/src/index.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { openProxy } from "./proxy.js";
import { scriptedFetch } from "./scripted.js";

let server: TestServer;
let recalld: Recalld;
let accountId: string;

beforeAll(async () => {
  server = await sharedServer();
  const opened = await signUp({ email: "ana@example.com" }, { baseUrl: server.url });
  expect(opened).toMatchObject({ plan: "free", callsUsed: 0, replayed: false });
  ({ accountId } = opened);
  recalld = new Recalld({ apiKey: opened.apiKey, baseUrl: server.url });
}, 60_000);

describe("the account", () => {
  test("tells itself, its usage and its last calls", async () => {
    await recalld.store({ namespace: "used", text: "Ana plays the piano." });
    const { email, key, model } = await recalld.account.get();
    expect([email, key.current, key.access]).toEqual(["ana@example.com", true, "KEY_ACCESS_FULL"]);
    expect(model.id).not.toBe("");
    const { days, namespaces } = await recalld.account.usage({ days: 1 });
    expect(days).toMatchObject([{ stores: 1, recalls: 0 }]);
    expect(namespaces).toMatchObject([{ namespace: "used", stores: 1 }]);
    const methods: string[] = [];
    for await (const { method } of recalld.account.recentCalls({ pageSize: 1 })) methods.push(method);
    expect(methods).toContain("recalld.v1.MemoryService/Store");
  });

  test("makes, lists and revokes keys, and closes", async () => {
    const { apiKey, key } = await recalld.account.createKey({
      name: "reader",
      access: "KEY_ACCESS_READ_ONLY",
      expireTime: new Date(Date.now() + 60_000),
    });
    const reader = new Recalld({ apiKey, baseUrl: server.url });
    expect(await reader.account.get()).toMatchObject({ accountId, key: { name: "reader" } });
    await expect(reader.account.listKeys()).rejects.toMatchObject({ reason: "KEY_READ_ONLY" });
    const { keys } = await recalld.account.listKeys();
    expect(keys.map(({ id, current }) => [id === key.id, current])).toEqual([
      [false, true],
      [true, false],
    ]);
    expect(await recalld.account.revokeKey({ id: key.id })).toMatchObject({ id: key.id });
    await expect(reader.account.get()).rejects.toMatchObject({ code: "unauthenticated" });
    const second = await signUp({}, { baseUrl: server.url });
    const closing = new Recalld({ apiKey: second.apiKey, baseUrl: server.url });
    expect(await closing.account.close({ accountId: second.accountId })).toMatchObject({ deleted: 0 });
    await expect(closing.account.get()).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("makes one key, though the answer is lost", async () => {
    const proxy = await openProxy(server.port, ["lost"]);
    await expect(
      recalld.account.createKey({ name: "lost" }, { baseUrl: proxy.url, retries: 3 }),
    ).rejects.toMatchObject({ code: "unavailable", attempts: 1 });
    expect(proxy.count()).toBe(1);
    const { keys } = await recalld.account.listKeys();
    expect(keys.filter(({ name }) => name === "lost")).toHaveLength(1);
    await proxy.close();
  });
});

describe("a sign-up", () => {
  test("sends no key, and is made once", async () => {
    const script = scriptedFetch({ status: 503, body: { code: "unavailable", message: "busy" } });
    const { fetch } = script;
    const options = { baseUrl: "http://memory.example", fetch, requestId: "r1" };
    await expect(signUp({}, options)).rejects.toMatchObject({ code: "unavailable", requestId: "r1" });
    expect(script.requests).toHaveLength(1);
    expect(script.requests[0]).toMatchObject({
      url: "http://memory.example/recalld.v1.AccountService/SignUp",
      headers: { "x-request-id": "r1" },
    });
    expect(script.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(script.requests[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  test("is given up by its signal, and needs an address", async () => {
    const signal = AbortSignal.abort();
    await expect(signUp({}, { baseUrl: server.url, signal })).rejects.toMatchObject({ code: "canceled" });
    await expect(signUp({}, { baseUrl: "" })).rejects.toMatchObject({ field: "baseUrl" });
  });
});

describe("a namespace's own calls", () => {
  let ana: NamespaceClient;
  beforeAll(() => {
    ana = recalld.namespace("ana");
  });

  test("take the field that is enough, or the request", async () => {
    const { id, namespace } = await ana.store("Ana is allergic to peanuts.", { requestId: "own" });
    expect([ana.name, namespace]).toEqual(["ana", "ana"]);
    const other = await ana.store({ text: "Ana plays the piano.", metadata: { kind: "hobby" } });
    const { results } = await ana.storeBatch([{ text: "One" }]);
    await ana.storeBatch({ memories: [{ text: "Two" }] });
    const found = await ana.recall("Which foods are bad for her?");
    expect(found.results[0]?.id).toBe(id);
    const filtered = await ana.recall({ query: "Which foods?", filter: { kind: "hobby" }, topK: 1 });
    expect(filtered.results.map((result) => result.id)).toEqual([other.id]);
    expect((await ana.get(id)).memory.text).toBe("Ana is allergic to peanuts.");
    expect((await ana.get({ id })).memory.id).toBe(id);
    expect((await ana.getMemories([id, other.id])).memories).toHaveLength(2);
    expect((await ana.getMemories({ ids: [id] })).memories).toHaveLength(1);
    expect((await ana.update({ id, text: "Ana may eat peanuts." })).memory.text).toBe("Ana may eat peanuts.");
    expect(await ana.delete(id)).toMatchObject({ id });
    await ana.deleteMemories({ ids: [results[0]?.stored?.id ?? ""] });
    expect(await ana.count()).toMatchObject({ memories: 2 });
    expect(await ana.count({ filter: { kind: "hobby" } })).toMatchObject({ memories: 1 });
    expect((await ana.getNamespace()).namespace).toMatchObject({ namespace: "ana", memories: 2 });
  });

  test("list, watch and export it, and drop it", async () => {
    const listed: string[] = [];
    for await (const { text } of ana.memories({ order: "OLDEST_FIRST" })) listed.push(text);
    expect(listed).toEqual(["Ana plays the piano.", "Two"]);
    const exported: string[] = [];
    for await (const { text } of ana.export()) exported.push(text);
    expect(exported).toEqual(listed);
    for await (const event of ana.watch()) {
      if (event.type === "heartbeat") await ana.store("Three");
      if (event.type === "stored") break;
    }
    expect(await ana.deleteNamespace({ force: true })).toMatchObject({ deleted: 3 });
  });

  test("stay in it, and need its name", async () => {
    const script = scriptedFetch({ status: 200, body: { id: "mem_1" } });
    const request = { text: "x", namespace: "other" };
    await ana.store(request, { fetch: script.fetch });
    expect(JSON.parse(script.requests[0]?.body ?? "").namespace).toBe("ana");
    expect(() => recalld.namespace("")).toThrow(/namespace is missing/);
  });
});
