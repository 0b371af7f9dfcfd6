import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Outcome, type Protocol, protocolsOf } from "../support/protocols.js";
import { sharedServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// The protocols' names are needed before the server's port is known.
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name, json }) => ({ name, json }));
const NOBODY = `mem_${"0".repeat(26)}`;

let server: TestServer;
let protocols: readonly Protocol[];
let key: string;

beforeAll(async () => {
  server = await sharedServer();
  protocols = protocolsOf(server.url);
  key = String((await (protocols[0] as Protocol).call("SignUp", {})).body.api_key);
});

type Body = Record<string, unknown>;

describe.each(PROTOCOLS)("through $name", ({ name }) => {
  const protocol = () => protocols.find((each) => each.name === name) as Protocol;
  const used = async () => (await protocol().call("GetAccount", {}, { key })).body.calls_used as number;
  const call = (rpc: Parameters<Protocol["call"]>[0], request: Body, header = {}) =>
    protocol().call(rpc, request as never, { key, header });
  let spaces = 0;
  const aSpace = () => `versions, ${name}, ${spaces++}`;
  const store = async (request: Body, header = {}) => (await ok(call("Store", request, header))).body as Body;
  const get = async (namespace: string, id: unknown) =>
    (await ok(call("GetMemory", { namespace, id }))).body.memory as Body;
  const recalled = async (namespace: string, query = "cat", more: Body = {}) =>
    (await ok(call("Recall", { namespace, query, ...more }))).body.results as Body[];

  async function ok(calling: Promise<Outcome>): Promise<Outcome> {
    const outcome = await calling;
    expect(outcome, outcome.message).toMatchObject({ code: "ok" });
    return outcome;
  }

  it("says of a text that its script is one which the model hardly knows, also in a replay and a batch", async () => {
    const namespace = aSpace();
    const arabic = "يعمل القط في المطبخ";
    const header = { "idempotency-key": `unread ${name}` };
    const first = await store({ namespace, text: arabic }, header);
    expect(first).toMatchObject({ unread_share: 1 });
    expect(await store({ namespace, text: arabic }, header)).toEqual(first);
    expect(await store({ namespace, text: "Le chat dort à la cuisine." })).not.toHaveProperty("unread_share");
    expect(await store({ namespace, text: "The cat is called قط." })).not.toHaveProperty("unread_share");
    const memories = [{ text: "🐈🐈🐈" }, { text: "A cat" }];
    const { body } = await ok(call("StoreBatch", { namespace, memories }));
    const results = body.results as { stored: Body }[];
    expect(results.map(({ stored }) => stored.unread_share)).toEqual([1, undefined]);
  });

  it("keeps or supersedes a memory that says the same, each for one call", async () => {
    const namespace = aSpace();
    const first = await store({ namespace, text: "Ana is allergic to peanuts." });
    const start = await used();
    const same = { namespace, text: "Ana has a peanut allergy.", similar_above: 0.88 };
    const header = { "idempotency-key": `similar ${name}` };
    const kept = await store({ ...same, on_similar: "KEEP" }, header);
    const similar = { memories: [{ id: first.id, text: "Ana is allergic to peanuts." }] };
    expect(kept).toMatchObject({ id: first.id, created_at: first.created_at, outcome: "KEPT", similar });
    expect(await store({ ...same, on_similar: "KEEP" }, header)).toEqual(kept);
    expect(await used()).toBe(start + 1);
    const other = { namespace, text: "Ana is allergic to almonds.", similar_above: 0.88, on_similar: "KEEP" };
    expect(await store(other)).toMatchObject({ outcome: "CREATED" });
    const next = await store({ ...same, on_similar: "SUPERSEDE" });
    expect(next).toMatchObject({ outcome: "CREATED", similar });
    expect(await get(namespace, first.id)).toMatchObject({ superseded_by: next.id });
    const texts = (await recalled(namespace)).map(({ text }) => text);
    expect(texts.sort()).toEqual(["Ana has a peanut allergy.", "Ana is allergic to almonds."]);
    expect(await used()).toBe(start + 4);
  });

  it("gives up no text for another one whose script the model hardly knows", async () => {
    const namespace = aSpace();
    const keep = { namespace, similar_above: 0.1, on_similar: "KEEP" };
    await store({ ...keep, text: "يعمل القط في المطبخ" });
    expect(await store({ ...keep, text: "قطة أخرى في الحديقة" })).toMatchObject({ outcome: "CREATED" });
  });

  it("makes one memory of a text that is stored several times at once", async () => {
    const namespace = aSpace();
    const once = { namespace, text: "Ana has two cats.", similar_above: 0.95, on_similar: "KEEP" };
    const stored = await Promise.all(Array.from({ length: 6 }, () => store(once)));
    expect(new Set(stored.map(({ id }) => id)).size).toBe(1);
    expect(stored.map(({ outcome }) => outcome).sort()).toEqual(["CREATED", ...Array(5).fill("KEPT")]);
  });

  it("updates a text: the next recall finds the new one, and the old one never again", async () => {
    const namespace = aSpace();
    const { id, created_at } = await store({ namespace, text: "The cat sleeps.", metadata: { a: 1 } });
    const before = await get(namespace, id);
    expect(before).toMatchObject({ updated_at: created_at, etag: expect.stringMatching(/^"[\w-]{16}"$/) });
    const start = await used();
    const { body } = await ok(call("UpdateMemory", { namespace, id, text: "Interest rates rose." }));
    expect(await used()).toBe(start + 1);
    const memory = body.memory as Body;
    expect(memory).toMatchObject({ id, text: "Interest rates rose.", metadata: { a: 1 }, created_at });
    expect(memory.etag).not.toBe(before.etag);
    expect(Date.parse(String(memory.updated_at))).toBeGreaterThanOrEqual(Date.parse(String(created_at)));
    expect(await get(namespace, id)).toEqual(memory);
    const [first, ...others] = await recalled(namespace, "Where does the cat sleep?", { mode: "HYBRID" });
    expect(others).toEqual([]);
    expect(first).toMatchObject({ id, text: "Interest rates rose.", words: 0 });
  });

  it("updates metadata as a whole and by key, which costs nothing", async () => {
    const namespace = aSpace();
    const { id } = await store({ namespace, text: "cat", metadata: { a: 1, b: { c: 2 }, "d.e": 3 } });
    const start = await used();
    const update = async (request: Body) =>
      ((await ok(call("UpdateMemory", { namespace, id, ...request }))).body.memory as Body).metadata;
    const keys = { metadata: { a: 2, x: 9 }, update_mask: "metadata.a,metadata.d.e" };
    expect(await update(keys)).toEqual({ a: 2, b: { c: 2 } });
    expect(await update({ metadata: { f: null, g: [null] }, update_mask: "metadata" })).toEqual({
      f: null,
      g: [null],
    });
    expect(await update({ update_mask: "metadata" })).toEqual({});
    expect(await used()).toBe(start);
    expect(await recalled(namespace)).toMatchObject([{ id, metadata: {} }]);
  });

  it("updates only the version of an etag", async () => {
    const namespace = aSpace();
    const { id } = await store({ namespace, text: "cat" });
    const { etag } = await get(namespace, id);
    const update = (text: string) => call("UpdateMemory", { namespace, id, text, etag });
    await ok(update("dog"));
    const start = await used();
    const outcome = await update("horse");
    expect(outcome).toMatchObject({ code: "aborted", reason: "ETAG_MISMATCH", fields: ["etag"] });
    const current = (await get(namespace, id)).etag as string;
    expect(outcome.message).toContain(current);
    expect(outcome.metadata).toEqual({ etag: current });
    expect(await used()).toBe(start);
    expect(await get(namespace, id)).toMatchObject({ text: "dog" });
  });

  it("refuses updates of what is not there, and of nothing", async () => {
    const namespace = aSpace();
    const update = (request: Body) => call("UpdateMemory", { namespace, id: NOBODY, text: "a", ...request });
    expect(await update({})).toMatchObject({ code: "not_found" });
    const { id } = await store({ namespace, text: "cat" });
    expect(await update({})).toMatchObject({ code: "not_found" });
    const wrong = async (request: Body, field: string) => {
      expect(await update({ id, ...request })).toMatchObject({ code: "invalid_argument", fields: [field] });
    };
    await wrong({ text: undefined }, "update_mask");
    await wrong({ text: " " }, "text");
    await wrong({ id: "mem_x" }, "id");
    await wrong({ update_mask: "id" }, "update_mask");
    await wrong({ update_mask: "text", text: undefined }, "text");
    await wrong({ expire_time: "2001-01-01T00:00:00Z" }, "expire_time");
    await ok(call("DeleteMemory", { namespace, id }));
    expect(await update({ id })).toMatchObject({ code: "not_found" });
  });

  it("updates once for an Idempotency-Key", async () => {
    const namespace = aSpace();
    const { id } = await store({ namespace, text: "cat" });
    const header = { "idempotency-key": `update ${name}` };
    const start = await used();
    const request = { namespace, id, text: "dog" };
    const first = await ok(call("UpdateMemory", request, header));
    const second = await ok(call("UpdateMemory", request, header));
    expect(second.header.get("idempotent-replayed")).toBe("true");
    expect(second.body).toEqual(first.body);
    expect(await used()).toBe(start + 1);
    const other = await call("UpdateMemory", { ...request, text: "horse" }, header);
    expect(other).toMatchObject({ code: "already_exists", reason: "IDEMPOTENCY_KEY_REUSED" });
  });

  it("refuses, replaces or keeps the memory with an external id", async () => {
    const namespace = aSpace();
    const asked = { namespace, external_id: "doc/1" };
    const first = await store({ ...asked, text: "The cat sleeps." });
    expect(first).toMatchObject({ outcome: "CREATED", etag: expect.any(String) });
    const start = await used();
    const refused = await call("Store", { ...asked, text: "A dog barks." });
    expect(refused).toMatchObject({ code: "already_exists", reason: "EXTERNAL_ID_TAKEN" });
    expect(refused.metadata).toEqual({ id: first.id });
    const kept = await store({ ...asked, text: "A dog barks.", on_conflict: "KEEP" });
    expect(kept).toEqual({ ...first, outcome: "KEPT" });
    expect(await used()).toBe(start);
    const replaced = await store({ ...asked, text: "A dog barks.", on_conflict: "REPLACE" });
    expect(replaced).toMatchObject({ id: first.id, outcome: "REPLACED", created_at: first.created_at });
    expect(replaced.etag).not.toBe(first.etag);
    expect(await used()).toBe(start + 1);
    const memory = await get(namespace, first.id);
    expect(memory).toMatchObject({ text: "A dog barks.", external_id: "doc/1", etag: replaced.etag });
    expect(await recalled(namespace)).toMatchObject([{ id: first.id, text: "A dog barks." }]);
    await ok(call("DeleteMemory", { namespace, id: first.id }));
    expect(await store({ ...asked, text: "free again" })).toMatchObject({ outcome: "CREATED" });
  });

  it("answers a store that uses nothing new as before", async () => {
    const { body } = await ok(call("Store", { namespace: aSpace(), text: "cat" }));
    expect(Object.keys(body).sort()).toEqual(["created_at", "id", "namespace", "tokens"]);
  });

  it("repeats the answer of a store with conditions for an Idempotency-Key", async () => {
    const namespace = aSpace();
    const header = { "idempotency-key": `store ${name}` };
    const asked = { namespace, text: "cat", external_id: "a", on_conflict: "REPLACE", similar_above: 0 };
    await store({ namespace, text: "kitten" });
    await store({ ...asked, text: "dog" });
    const first = await ok(call("Store", asked, header));
    expect(first.body).toMatchObject({ outcome: "REPLACED", similar: { memories: [{ text: "kitten" }] } });
    const second = await ok(call("Store", asked, header));
    expect(second.body).toEqual(first.body);
    expect(second.header.get("idempotent-replayed")).toBe("true");
    const other = await call("Store", { ...asked, on_conflict: "KEEP" }, header);
    expect(other).toMatchObject({ code: "already_exists", reason: "IDEMPOTENCY_KEY_REUSED" });
  });

  it("supersedes memories: they are hidden, and still there", async () => {
    const namespace = aSpace();
    const old = [
      await store({ namespace, text: "Ada lives in Paris." }),
      await store({ namespace, text: "Ada lives in France." }),
    ];
    const ids = old.map(({ id }) => id);
    const now = await store({ namespace, text: "Ada lives in Rome.", supersedes: ids });
    expect(now).toMatchObject({ outcome: "CREATED" });
    for (const id of ids) expect(await get(namespace, id)).toMatchObject({ superseded_by: now.id });
    const texts = (results: Body[]) => results.map(({ text }) => text).sort();
    for (const mode of ["COSINE", "HYBRID"]) {
      expect(texts(await recalled(namespace, "Ada lives in Paris", { mode }))).toEqual([
        "Ada lives in Rome.",
      ]);
      const all = await recalled(namespace, "Ada lives in Paris", { mode, include_superseded: true });
      expect(all).toHaveLength(3);
      expect(all.find(({ id }) => id === ids[0])).toMatchObject({ superseded_by: now.id });
      expect(all.every(({ etag }) => typeof etag === "string")).toBe(true);
    }
    const list = async (more: Body) =>
      (await ok(call("ListMemories", { namespace, ...more }))).body.memories as Body[];
    expect(texts(await list({}))).toEqual(["Ada lives in Rome."]);
    expect(await list({ include_superseded: true })).toHaveLength(3);
    const update = await call("UpdateMemory", { namespace, id: ids[0], text: "Ada lives in Lyon." });
    expect(update).toMatchObject({ code: "failed_precondition", reason: "MEMORY_SUPERSEDED" });
    expect(update.message).toContain(String(now.id));
    await ok(call("DeleteMemory", { namespace, id: now.id }));
    expect(await list({})).toEqual([]);
    expect(await get(namespace, ids[0])).toMatchObject({ superseded_by: now.id });
  });

  it("refuses to supersede what it cannot, and names the place", async () => {
    const namespace = aSpace();
    const { id } = await store({ namespace, text: "Ada lives in Paris." });
    const { id: by } = await store({ namespace, text: "Ada lives in Rome.", supersedes: [id] });
    const start = await used();
    const refused = async (supersedes: unknown[], outcome: Body) => {
      expect(await call("Store", { namespace, text: "a", supersedes })).toMatchObject(outcome);
    };
    await refused([by, NOBODY], { code: "not_found", fields: ["supersedes[1]"] });
    await refused([by, id], { code: "failed_precondition", fields: ["supersedes[1]"] });
    await refused([by, by], { code: "invalid_argument", fields: ["supersedes[1]"] });
    await refused(["x"], { code: "invalid_argument", fields: ["supersedes[0]"] });
    await refused(Array(17).fill(by), { code: "invalid_argument", fields: ["supersedes"] });
    expect(await used()).toBe(start);
  });

  it("hides a memory from the instant at which it expires", async () => {
    const namespace = aSpace();
    const { id } = await store({ namespace, text: "short-lived cat", ttl: "1.2s", external_id: "x" });
    const memory = await get(namespace, id);
    const expires = Date.parse(String(memory.expire_time));
    expect(expires - Date.parse(String(memory.created_at))).toBeLessThanOrEqual(1_200);
    expect(await recalled(namespace)).toMatchObject([{ id }]);
    await new Promise((resolve) => setTimeout(resolve, expires - Date.now() + 5));
    expect(await recalled(namespace)).toEqual([]);
    expect(await recalled(namespace, "cat", { mode: "HYBRID", include_superseded: true })).toEqual([]);
    expect(await call("GetMemory", { namespace, id })).toMatchObject({ code: "not_found" });
    expect(await call("UpdateMemory", { namespace, id, text: "a" })).toMatchObject({ code: "not_found" });
    expect((await ok(call("ListMemories", { namespace }))).body.memories).toEqual([]);
    const next = await store({ namespace, text: "another", external_id: "x" });
    expect(next).toMatchObject({ outcome: "CREATED" });
    expect(next.id).not.toBe(id);
  });

  it("answers a delete of what has expired as if it had never been", async () => {
    const namespace = aSpace();
    const [one, two, three] = await Promise.all(
      ["0.5s", "0.5s", "3600s"].map(async (ttl) => (await store({ namespace, text: "cat", ttl })).id),
    );
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await call("DeleteMemory", { namespace, id: one })).toMatchObject({ code: "not_found" });
    const { body } = await ok(call("DeleteMemories", { namespace, ids: [one, two, three] }));
    expect(body).toMatchObject({ deleted: 1 });
  });

  it("changes when a memory expires, and that it does", async () => {
    const namespace = aSpace();
    const at = "2090-01-31T12:00:00Z";
    const { id } = await store({ namespace, text: "cat", expire_time: at });
    const expireTime = async (request: Body) =>
      ((await ok(call("UpdateMemory", { namespace, id, ...request }))).body.memory as Body).expire_time;
    expect(await expireTime({ metadata: { a: 1 } })).toBe(at);
    expect(await expireTime({ expire_time: "2091-01-01T00:00:00Z" })).toBe("2091-01-01T00:00:00Z");
    expect(await expireTime({ update_mask: "expire_time" })).toBeUndefined();
  });

  it("lists similar memories that were there before", async () => {
    const namespace = aSpace();
    for (const text of ["The cat sleeps on the radiator.", "Interest rates rose again."]) {
      await store({ namespace, text });
    }
    const start = await used();
    const { similar } = await store({ namespace, text: "The cat sleeps on a radiator.", similar_above: 0.6 });
    const { memories } = similar as { memories: Body[] };
    expect(memories).toMatchObject([{ text: "The cat sleeps on the radiator." }]);
    expect(memories[0]?.score).toBeGreaterThan(0.6);
    expect(await used()).toBe(start + 1);
    const none = await store({ namespace: aSpace(), text: "alone", similar_above: 0 });
    expect(none.similar).toEqual({ memories: [] });
  });

  it("stores a batch as one store after the other, also with the same external id", async () => {
    const namespace = aSpace();
    const batch = async (memories: Body[], header = {}) => {
      const { body } = await ok(call("StoreBatch", { namespace, memories }, header));
      return body.results as { stored?: Body; error?: Body }[];
    };
    const old = await store({ namespace, text: "Ada lives in Paris." });
    const start = await used();
    const [first, second, third, fourth, fifth, sixth] = await batch([
      { text: "Ada lives in Rome.", supersedes: [old.id], external_id: "ada" },
      { text: "A dog barks.", external_id: "ada", on_conflict: "KEEP" },
      { text: "A cow moos.", external_id: "ada", on_conflict: "REFUSE" },
      { text: "Ada lives in Oslo.", external_id: "ada", on_conflict: "REPLACE", ttl: "86400s" },
      { text: "Nobody.", supersedes: [old.id] },
      { text: "The cat sleeps." },
    ]);
    const { id, created_at } = first?.stored ?? {};
    expect(first?.stored).toMatchObject({ outcome: "CREATED", etag: expect.any(String) });
    expect(second?.stored).toEqual({ ...first?.stored, outcome: "KEPT" });
    expect(third?.error).toMatchObject({ code: "already_exists", reason: "EXTERNAL_ID_TAKEN" });
    expect(fourth?.stored).toMatchObject({ id, created_at, outcome: "REPLACED" });
    expect(fifth?.error).toMatchObject({ code: "failed_precondition", reason: "MEMORY_SUPERSEDED" });
    expect(Object.keys(sixth?.stored ?? {}).sort()).toEqual(["created_at", "id", "tokens"]);
    // Those that were kept or refused cost nothing.
    expect(await used()).toBe(start + 3);
    const memory = await get(namespace, id);
    const etag = fourth?.stored?.etag;
    expect(memory).toMatchObject({ text: "Ada lives in Oslo.", external_id: "ada", etag });
    expect(Date.parse(String(memory.expire_time))).toBeGreaterThan(Date.now());
    expect(await get(namespace, old.id)).toMatchObject({ superseded_by: id });
    const texts = (await recalled(namespace, "Ada")).map(({ text }) => text).sort();
    expect(texts).toEqual(["Ada lives in Oslo.", "The cat sleeps."]);
  });

  it("repeats the answer of a batch with conditions for an Idempotency-Key", async () => {
    const namespace = aSpace();
    const header = { "idempotency-key": `batch ${name}` };
    const there = await store({ namespace, text: "kitten", external_id: "kept" });
    await store({ namespace, text: "puppy", external_id: "replaced" });
    const memories = [
      { text: "cat", external_id: "kept", on_conflict: "KEEP" },
      { text: "dog", external_id: "replaced", on_conflict: "REPLACE" },
      { text: "cow", external_id: "new", on_conflict: "REFUSE" },
      { text: "hen" },
    ];
    const start = await used();
    const first = await ok(call("StoreBatch", { namespace, memories }, header));
    const outcomes = [{ id: there.id, outcome: "KEPT" }, { outcome: "REPLACED" }, { outcome: "CREATED" }, {}];
    expect(first.body.results).toMatchObject(outcomes.map((stored) => ({ stored })));
    const again = await ok(call("StoreBatch", { namespace, memories }, header));
    expect(again.body).toEqual(first.body);
    expect(again.header.get("idempotent-replayed")).toBe("true");
    expect(await used()).toBe(start + 3);
    const other = [{ ...memories[0], on_conflict: "REPLACE" }, ...memories.slice(1)];
    const reused = await call("StoreBatch", { namespace, memories: other }, header);
    expect(reused).toMatchObject({ code: "already_exists", reason: "IDEMPOTENCY_KEY_REUSED" });
    // Another replacement and an update change nothing about the answer; a deletion does.
    await store({ namespace, text: "wolf", external_id: "replaced", on_conflict: "REPLACE" });
    const results = first.body.results as { stored: Body }[];
    await ok(call("UpdateMemory", { namespace, id: results[2]?.stored.id, metadata: { a: 1 } }));
    expect((await ok(call("StoreBatch", { namespace, memories }, header))).body).toEqual(first.body);
    await ok(call("DeleteMemory", { namespace, id: there.id }));
    const { body } = await ok(call("StoreBatch", { namespace, memories }, header));
    const gone = { error: { code: "failed_precondition", reason: "IDEMPOTENT_MEMORY_DELETED" } };
    expect(body.results).toMatchObject([gone, ...results.slice(1)]);
    expect(await used()).toBe(start + 4);
  });

  it("answers a batch whose memories are all there without a call, and refuses one of which none can go in", async () => {
    const namespace = aSpace();
    const ids = ["a", "b", "c"];
    const asked = (on_conflict: string) => ({
      namespace,
      memories: ids.map((external_id) => ({ text: `cat ${external_id}`, external_id, on_conflict })),
    });
    await ok(call("StoreBatch", asked("REFUSE")));
    const start = await used();
    const kept = await ok(call("StoreBatch", asked("KEEP")));
    expect(kept.body.results).toMatchObject(ids.map(() => ({ stored: { outcome: "KEPT" } })));
    const refused = await call("StoreBatch", asked("REFUSE"));
    expect(refused).toMatchObject({ code: "already_exists", fields: ["memories[0].external_id"] });
    expect(refused.message).toMatch(/^memories\[0\].external_id is taken by mem_/);
    expect(await used()).toBe(start);
    const replaced = await ok(call("StoreBatch", asked("REPLACE")));
    expect(replaced.body.results).toMatchObject(ids.map(() => ({ stored: { outcome: "REPLACED" } })));
    expect(await used()).toBe(start + 3);
    expect(await recalled(namespace)).toHaveLength(3);
  });
});
