import { beforeAll, describe, expect, test } from "vitest";
import { Recalld, RecalldError, type WatchEvent } from "../../clients/typescript/src/index.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { type LosingProxy, openProxy } from "./proxy.js";
import { signUp } from "./sign-up.js";

let server: TestServer;
let apiKey: string;
let recalld: Recalld;

beforeAll(async () => {
  server = await sharedServer();
  apiKey = await signUp(server.url);
  recalld = new Recalld({ apiKey, baseUrl: server.url });
}, 60_000);

describe("the client", () => {
  test("stores and recalls, with a request id on every answer", async () => {
    const namespace = "first";
    const stored = await recalld.store(
      { namespace, text: "Ana is allergic to peanuts.", metadata: { said_in: { chat_id: 7 } } },
      { requestId: "my-own-id" },
    );
    expect(stored).toMatchObject({ namespace, requestId: "my-own-id", replayed: false });
    expect(stored.id).toMatch(/^mem_/);
    expect(Date.parse(stored.createdAt)).toBeGreaterThan(Date.now() - 60_000);
    const { results, queryTokens, requestId } = await recalld.recall({
      namespace,
      query: "Which foods are bad for her?",
      topK: 1,
      mode: "HYBRID",
      explain: true,
    });
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({
      text: "Ana is allergic to peanuts.",
      metadata: { said_in: { chat_id: 7 } },
    });
    expect(results[0]?.explanation?.rank).toBeGreaterThan(0);
    expect(queryTokens).toBeGreaterThan(0);
    expect(requestId).toMatch(/^[0-9a-f]{32}$/);
    expect(server.output()).toContain("my-own-id");
  });

  test("reads, updates under an etag, counts and forgets", async () => {
    const namespace = "changes";
    const { id, etag = "" } = await recalld.store({
      namespace,
      text: "Ana lives in Rome.",
      externalId: "home",
    });
    const { memory } = await recalld.update({ namespace, id, text: "Ana lives in Berlin.", etag });
    expect(memory).toMatchObject({ id, text: "Ana lives in Berlin.", externalId: "home" });
    await expect(recalld.update({ namespace, id, text: "Ana lives in Oslo.", etag })).rejects.toMatchObject({
      name: "RecalldError",
      code: "aborted",
      reason: "ETAG_MISMATCH",
      status: 409,
      attempts: 1,
      metadata: { etag: memory?.etag },
    });
    expect((await recalld.get({ namespace, id })).memory).toEqual(memory);
    expect(await recalld.count({ namespace })).toMatchObject({ memories: 1 });
    expect((await recalld.getNamespace({ namespace })).namespace).toMatchObject({ bytes: 22 });
    expect((await recalld.getMemories({ namespace, ids: [id] })).memories).toEqual([memory]);
    expect(await recalld.delete({ namespace, id })).toMatchObject({ id });
    await expect(recalld.get({ namespace, id })).rejects.toBeInstanceOf(RecalldError);
    expect(await recalld.deleteMemories({ namespace, ids: [id] })).toMatchObject({ deleted: 0, more: false });
    await expect(recalld.recall({ namespace, query: "?", topK: 21 })).rejects.toMatchObject({
      code: "invalid_argument",
      field: "topK",
      status: 400,
    });
  });

  test("stores batches, and iterates over memories and namespaces page by page", async () => {
    const namespace = "pages";
    const memories = Array.from({ length: 7 }, (_, n) => ({ text: `Note ${n}` }));
    const { results } = await recalld.storeBatch({ namespace, memories });
    expect(results.map(({ stored }) => stored?.id)).not.toContain(undefined);
    const texts: string[] = [];
    for await (const { text } of recalld.memories({ namespace, pageSize: 3, order: "OLDEST_FIRST" }))
      texts.push(text);
    expect(texts).toEqual(memories.map(({ text }) => text));
    const sizes: number[] = [];
    for await (const page of recalld.memories({ namespace, pageSize: 3 }).pages()) {
      expect(page.requestId).not.toBe("");
      sizes.push(page.memories.length);
    }
    expect(sizes.slice(0, 3)).toEqual([3, 3, 1]);
    const names: string[] = [];
    for await (const each of recalld.namespaces({ prefix: "page", pageSize: 1 })) names.push(each.namespace);
    expect(names).toEqual(["pages"]);
    expect(await recalld.deleteNamespace({ namespace, force: true })).toMatchObject({ deleted: 7 });
  });

  test("deletes the namespaces of a prefix, and says before which", async () => {
    const namespaces = ["ts user/a", "ts user/b"];
    for (const namespace of namespaces) await recalld.store({ namespace, text: "Ana plays the piano." });
    const dry = await recalld.deleteNamespaces({ prefix: "ts user/", dryRun: true });
    expect(dry).toMatchObject({ deleted: 0, more: false, namespaces, memories: 2, matched: 2 });
    const done = await recalld.deleteNamespaces({ prefix: "ts user/" });
    expect(done).toMatchObject({ deleted: 2, more: false, namespaces, memories: 2 });
    expect(done.matched).toBeUndefined();
    expect(await recalld.deleteNamespaces({ prefix: "ts user/" })).toMatchObject({ deleted: 0 });
    await expect(recalld.deleteNamespaces({ prefix: "" })).rejects.toMatchObject({
      code: "invalid_argument",
      field: "prefix",
    });
  });

  test("exports memories, and the lines of a file", async () => {
    const namespace = "a/b c";
    await recalld.storeBatch({
      namespace,
      memories: [{ text: "One" }, { text: "Two", metadata: { a_b: 1 } }],
    });
    const memories = [];
    for await (const memory of recalld.export({ namespace, includeVectors: true })) memories.push(memory);
    expect(memories).toMatchObject([{ text: "One" }, { text: "Two", metadata: { a_b: 1 } }]);
    expect(memories[0]?.vectors).toHaveLength(1);
    const lines = [];
    for await (const line of recalld.export({ namespace }).lines()) lines.push(JSON.parse(line));
    expect(lines).toHaveLength(4);
    expect([lines[0], lines[3]]).toMatchObject([{ format: "recalld-export" }, { count: 2 }]);
    await expect(recalld.export({ namespace: ".." }).lines().next()).rejects.toMatchObject({
      field: "namespace",
    });
  });
});

describe("an answer that is lost", () => {
  let proxy: LosingProxy;
  const through = async (fate: "lost" | "halved") => {
    proxy = await openProxy(server.port, [fate]);
    return new Recalld({ apiKey, baseUrl: proxy.url });
  };

  test.each(["lost", "halved"] as const)("leaves one memory, not two: %s", async (fate) => {
    const namespace = `store ${fate}`;
    const shaky = await through(fate);
    const stored = await shaky.store({ namespace, text: "Ana plays the piano." });
    expect(stored.replayed).toBe(true);
    expect(proxy.count()).toBe(2);
    expect(await recalld.count({ namespace })).toMatchObject({ memories: 1 });
    await proxy.close();
  });

  test("leaves one batch", async () => {
    const namespace = "batch";
    const shaky = await through("lost");
    const { results } = await shaky.storeBatch({ namespace, memories: [{ text: "One" }, { text: "Two" }] });
    expect(results).toHaveLength(2);
    expect(proxy.count()).toBe(2);
    expect(await recalld.count({ namespace })).toMatchObject({ memories: 2 });
    await proxy.close();
  });

  test("leaves one update, though its etag is no longer current", async () => {
    const namespace = "update";
    const { id } = await recalld.store({ namespace, text: "Ana lives in Rome." });
    const { memory: before } = await recalld.get({ namespace, id });
    const shaky = await through("lost");
    const { memory } = await shaky.update({
      namespace,
      id,
      text: "Ana lives in Berlin.",
      etag: before?.etag,
    });
    expect(memory?.text).toBe("Ana lives in Berlin.");
    await proxy.close();
  });

  test("leaves nothing of a memory that was to be forgotten", async () => {
    const namespace = "delete";
    const { id } = await recalld.store({ namespace, text: "Ana lives in Rome." });
    const shaky = await through("lost");
    expect(await shaky.delete({ namespace, id })).toMatchObject({ id });
    expect(await recalld.count({ namespace })).toMatchObject({ memories: 0 });
    await proxy.close();
  });
});

describe("a watch", () => {
  test("tells every change in order, once each, also when its connection breaks", async () => {
    const namespace = "watched";
    const proxy = await openProxy(server.port);
    const watcher = new Recalld({ apiKey, baseUrl: proxy.url });
    const seen: WatchEvent[] = [];
    const ids: string[] = [];
    for await (const event of watcher.watch({ namespace })) {
      if (event.type === "heartbeat" && seen.length === 0) ids.push(await note(namespace, 1));
      if (event.type === "heartbeat") continue;
      seen.push(event);
      if (seen.length === 1) {
        proxy.reset();
        // While nobody listens.
        ids.push(await note(namespace, 2));
        await recalld.delete({ namespace, id: ids[0] as string });
      }
      if (seen.length === 3) break;
    }
    expect(seen.map(({ type }) => type)).toEqual(["stored", "stored", "deleted"]);
    expect(seen).toMatchObject([
      { memory: { id: ids[0], text: "Note 1" } },
      { memory: { id: ids[1] } },
      { id: ids[0] },
    ]);
    expect(proxy.count()).toBe(2);
    const { position } = seen[0] as WatchEvent;
    for await (const event of recalld.watch({ namespace, position })) {
      if (event.type === "heartbeat") continue;
      expect(event).toMatchObject({ type: "stored", memory: { id: ids[1] } });
      break;
    }
    await proxy.close();
  });

  test("ends when its caller gives up, and with an error that does not pass", async () => {
    const controller = new AbortController();
    const reading = (async () => {
      for await (const { type } of recalld.watch({ namespace: "quiet" }, { signal: controller.signal }))
        if (type === "heartbeat") setTimeout(() => controller.abort(), 50);
    })();
    await expect(reading).rejects.toMatchObject({ code: "canceled" });
    await expect(recalld.watch({ namespace: "quiet", position: "nonsense" }).next()).rejects.toMatchObject({
      code: "invalid_argument",
    });
    const stranger = recalld.watch({ namespace: "quiet" }, { apiKey: `rcl_${"x".repeat(43)}` });
    await expect(stranger.next()).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("gives up when the server stays away", async () => {
    const proxy = await openProxy(server.port);
    const watcher = new Recalld({ apiKey, baseUrl: proxy.url });
    const watching = watcher.watch({ namespace: "quiet" }, { giveUpAfterMs: 300 });
    expect((await watching.next()).value).toMatchObject({ type: "heartbeat" });
    await proxy.close();
    await expect(watching.next()).rejects.toMatchObject({ code: "unavailable" });
  });

  const note = async (namespace: string, n: number) =>
    (await recalld.store({ namespace, text: `Note ${n}` })).id;
});
