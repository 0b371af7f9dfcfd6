import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { DATABASES } from "../support/databases.js";
import { onSharedServer, openAccountAt } from "../support/on-database.js";
import { type Protocol, protocolsOf, readJson } from "../support/protocols.js";
import { sharedServer, type TestServer } from "../support/server.js";

const TIMEOUT_MS = 60_000;
const NO_SUCH_ID = "mem_01jdh2zz00e00r0000000000v7";
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);

async function accountAt(protocol: Protocol) {
  const { call, ...account } = await openAccountAt(protocol);
  const store = async (namespace: string, text: string) =>
    String((await call("Store", { namespace, text })).id);
  return { ...account, call, store };
}

const textsOf = ({ memories }: JsonObject) => (memories as JsonObject[]).map(({ text }) => text);
const namesOf = ({ namespaces }: JsonObject) =>
  (namespaces as JsonObject[]).map(({ namespace }) => namespace);

describe.each(DATABASES)("reads on $name", (database) => {
  const here = onSharedServer(database);
  const { test } = here;

  test("pages through memories, the oldest first, past what was deleted", async () => {
    const { call, store } = await accountAt(here.protocol);
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push(await store("n", `text ${i}`));
    const gone = [11, 5, 4, 3, 0].map((i) => ids[i] as string);
    expect(await call("DeleteMemories", { namespace: "n", ids: gone })).toMatchObject({ deleted: 5 });
    const pages: unknown[][] = [];
    for (let page_token = ""; ; ) {
      const page = await call("ListMemories", {
        namespace: "n",
        page_size: 3,
        order: "OLDEST_FIRST",
        page_token,
      });
      pages.push(textsOf(page));
      page_token = String(page.next_page_token);
      if (page_token === "") break;
      // What is stored meanwhile comes at the end.
      if (pages.length === 1) await store("n", "late");
    }
    expect(pages.filter(({ length }) => length > 0)).toEqual([
      ["text 1", "text 2", "text 6"],
      ["text 7", "text 8", "text 9"],
      ["text 10", "late"],
    ]);
  });

  test("binds a page token to the order and to the prefix of its list", async () => {
    const { key, call, store } = await accountAt(here.protocol);
    for (const text of ["a", "b", "c"]) await store("na", text);
    await store("nb", "d");
    await store("nc", "e");
    const refused = { code: "invalid_argument", fields: ["page_token"] };
    const first = await call("ListMemories", { namespace: "na", page_size: 1 });
    const request = { namespace: "na", page_token: first.next_page_token as string };
    expect(
      await here.protocol.call("ListMemories", { ...request, order: "OLDEST_FIRST" }, { key }),
    ).toMatchObject(refused);
    expect(textsOf(await call("ListMemories", { ...request, order: "NEWEST_FIRST" }))).toEqual(["b", "a"]);
    const oldest = await call("ListMemories", { namespace: "na", page_size: 1, order: "OLDEST_FIRST" });
    const token = { namespace: "na", page_token: oldest.next_page_token as string };
    expect(await here.protocol.call("ListMemories", token, { key })).toMatchObject(refused);
    const page = await call("ListNamespaces", { page_size: 1, prefix: "n" });
    const page_token = page.next_page_token as string;
    expect(namesOf(await call("ListNamespaces", { prefix: "n", page_token }))).toEqual(["nb", "nc"]);
    for (const prefix of ["", "na"]) {
      expect(await here.protocol.call("ListNamespaces", { prefix, page_token }, { key })).toMatchObject(
        refused,
      );
    }
  });

  test("lists the namespaces that begin with a prefix", async () => {
    const { call, store } = await accountAt(here.protocol);
    for (const namespace of ["user/ana", "user/bo b", "usera", "übung", "user"]) await store(namespace, "a");
    expect(namesOf(await call("ListNamespaces", { prefix: "user/" }))).toEqual(["user/ana", "user/bo b"]);
    expect(namesOf(await call("ListNamespaces", { prefix: "üb" }))).toEqual(["übung"]);
    expect(namesOf(await call("ListNamespaces", { prefix: "USER" }))).toEqual([]);
  });

  test("counts, and tells what a namespace holds and when it was stored", async () => {
    const { call, store, used } = await accountAt(here.protocol);
    const ids: string[] = [];
    for (const text of ["wörd", "b", "c"]) ids.push(await store("n/é", text));
    const listed = await call("ListMemories", { namespace: "n/é" });
    const times = (listed.memories as JsonObject[]).map(({ created_at }) => created_at).toReversed();
    const before = await used();
    expect(await call("CountMemories", { namespace: "n/é" })).toEqual({ memories: 3, namespace: "n/é" });
    expect(await call("GetNamespace", { namespace: "n/é" })).toEqual({
      namespace: { namespace: "n/é", memories: 3, bytes: "13" },
      first: times[0],
      last: times[2],
    });
    await call("DeleteMemories", { namespace: "n/é", ids: [ids[0], ids[2]] as string[] });
    expect(await call("GetNamespace", { namespace: "n/é" })).toMatchObject({
      first: times[1],
      last: times[1],
    });
    await call("DeleteMemory", { namespace: "n/é", id: ids[1] as string });
    expect(await call("GetNamespace", { namespace: "n/é" })).toEqual({
      namespace: { namespace: "n/é", memories: 0, bytes: "0" },
    });
    expect(await used()).toBe(before);
  });

  test("gets several memories in the order of their ids, and says which are missing", async () => {
    const { call, store } = await accountAt(here.protocol);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await store("n", `text ${i}`));
    const elsewhere = await store("other", "elsewhere");
    await call("DeleteMemory", { namespace: "n", id: ids[3] as string });
    const asked = [4, 3, 0, 2, 4].map((i) => ids[i] as string);
    const got = await call("GetMemories", { namespace: "n", ids: [...asked, NO_SUCH_ID, elsewhere] });
    expect(textsOf(got)).toEqual(["text 4", "text 0", "text 2"]);
    expect(got).toMatchObject({ missing: [ids[3], NO_SUCH_ID, elsewhere], remaining: [], namespace: "n" });
    const { memory } = await call("GetMemory", { namespace: "n", id: ids[4] as string });
    expect((got.memories as JsonObject[])[0]).toEqual(memory);
    const nowhere = await call("GetMemories", { namespace: "never", ids: asked });
    expect(nowhere).toMatchObject({ memories: [], missing: asked.slice(0, 4) });
  });

  test("ends an answer of long memories, and names those to ask for again", async () => {
    const { call, store } = await accountAt(here.protocol);
    const long = `a ${" ".repeat(65_000)} b`;
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(await store("n", long));
    const first = await call("GetMemories", { namespace: "n", ids: [NO_SUCH_ID, ...ids] });
    expect(first).toMatchObject({ missing: [NO_SUCH_ID], remaining: ids.slice(17) });
    expect(first.memories).toHaveLength(17);
    const rest = await call("GetMemories", { namespace: "n", ids: first.remaining as string[] });
    expect((rest.memories as JsonObject[]).map(({ id }) => id)).toEqual(ids.slice(17));
    expect(rest.remaining).toEqual([]);
  });

  test("shows of updated, superseded and expired memories what single reads show", async () => {
    const { call, store } = await accountAt(here.protocol);
    const namespace = "n";
    const updated = await store(namespace, "before");
    const old = await store(namespace, "old");
    const kept = await store(namespace, "kept");
    await call("UpdateMemory", { namespace, id: updated, text: "between" });
    await call("UpdateMemory", { namespace, id: updated, text: "after" });
    const made = await call("Store", { namespace, text: "new", supersedes: [old], ttl: "2s" });
    const passing = String(made.id);
    const texts = async (more: JsonObject = {}) => {
      const lists = ["OLDEST_FIRST", "NEWEST_FIRST"].map((order) =>
        call("ListMemories", { namespace, order, page_size: 100, ...more }),
      );
      const [oldest = [], newest = []] = (await Promise.all(lists)).map(textsOf);
      expect(oldest).toEqual(newest.toReversed());
      const { memories } = await call("CountMemories", { namespace, ...more });
      expect(memories).toBe(oldest.length);
      return oldest;
    };
    const all = { include_superseded: true };
    // A slow machine may be late.
    const early = await texts();
    expect([3, 2]).toContain(early.length);
    expect(early.slice(0, 2)).toEqual(["kept", "after"]);
    await vi.waitFor(async () => expect(await texts()).toEqual(["kept", "after"]), { timeout: 20_000 });
    expect(await texts(all)).toEqual(["old", "kept", "after"]);
    const got = await call("GetMemories", { namespace, ids: [updated, old, kept, passing] });
    expect(got.missing).toEqual([passing]);
    expect(textsOf(got)).toEqual(["after", "old", "kept"]);
    expect(got.memories).toMatchObject([{ id: updated }, { superseded_by: passing }, { id: kept }]);
    for (const memory of got.memories as JsonObject[]) {
      expect((await call("GetMemory", { namespace, id: memory.id as string })).memory).toEqual(memory);
    }
    const [first, last] = [(got.memories as JsonObject[])[2], (got.memories as JsonObject[])[0]];
    const facts = await call("GetNamespace", { namespace });
    expect(facts).toMatchObject({ first: first?.created_at, last: last?.updated_at });
    const ids = [updated, old, kept, passing];
    expect(await call("DeleteMemories", { namespace, ids })).toMatchObject({ deleted: expect.any(Number) });
    expect(await texts(all)).toEqual([]);
  });

  test("deletes several memories, and counts those that were there", async () => {
    const { call, store, used } = await accountAt(here.protocol);
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) ids.push(await store("n", `text ${i}`));
    const elsewhere = await store("other", "elsewhere");
    const before = await used();
    const request = { namespace: "n", ids: [...ids.slice(0, 30), NO_SUCH_ID, elsewhere, ids[0] as string] };
    const deleted = { deleted: 30, more: false, samples: [], namespace: "n" };
    expect(await call("DeleteMemories", request)).toEqual(deleted);
    expect(await call("DeleteMemories", request)).toEqual({ ...deleted, deleted: 0 });
    expect(await call("CountMemories", { namespace: "n" })).toMatchObject({ memories: 10 });
    expect(await used()).toBe(before);
    const { results } = await call("Recall", { namespace: "n", query: "text 3", top_k: 20 });
    expect((results as JsonObject[]).map(({ id }) => id).sort()).toEqual(ids.slice(30));
    expect((await call("GetMemories", { namespace: "n", ids: ids.slice(0, 30) })).missing).toHaveLength(30);
    expect((await call("GetMemories", { namespace: "other", ids: [elsewhere] })).missing).toEqual([]);
  });
});

describe("reads", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await sharedServer();
  }, TIMEOUT_MS);

  describe.each(PROTOCOLS)("through %s", (name) => {
    const protocol = () => protocolsOf(server.url).find((each) => each.name === name) as Protocol;

    it("say the same, and show an account nothing of another's", async () => {
      const { call, store } = await accountAt(protocol());
      const names = ["a/b:c%2F", "mañana 🐈", "?order=x#y", "__proto__"];
      for (const namespace of names) {
        const id = await store(namespace, "The cat sleeps.");
        await store(namespace, "The dog barks.");
        const request = { namespace, order: "OLDEST_FIRST" };
        expect(textsOf(await call("ListMemories", request))).toEqual(["The cat sleeps.", "The dog barks."]);
        expect(await call("GetNamespace", { namespace })).toMatchObject({
          namespace: { namespace, memories: 2 },
        });
        expect(await call("DeleteMemories", { namespace, ids: [id] })).toMatchObject({ deleted: 1 });
        expect(await call("CountMemories", { namespace })).toMatchObject({ memories: 1 });
        expect(await call("GetMemories", { namespace, ids: [id] })).toMatchObject({ missing: [id] });
        expect(namesOf(await call("ListNamespaces", { prefix: namespace }))).toEqual([namespace]);
      }
      const other = await accountAt(protocol());
      expect(namesOf(await other.call("ListNamespaces", { prefix: "a" }))).toEqual([]);
      const namespace = "a/b:c%2F";
      const outcome = await protocol().call("GetNamespace", { namespace }, { key: other.key });
      expect(outcome.code).toBe("not_found");
      expect(await other.call("CountMemories", { namespace })).toMatchObject({ memories: 0 });
    });
  });

  it("show a key for one namespace only that one", async () => {
    const protocol = protocolsOf(server.url)[0] as Protocol;
    const { call, store } = await accountAt(protocol);
    for (const namespace of ["mine", "mild"]) await store(namespace, "a");
    const made = await call("CreateKey", { namespace: "mine" });
    const listed = async (prefix: string) =>
      namesOf((await protocol.call("ListNamespaces", { prefix }, { key: String(made.api_key) })).body);
    expect(await listed("mi")).toEqual(["mine"]);
    expect(await listed("mil")).toEqual([]);
  });

  it.each([
    ["/namespaces?prefix=a&prefix=b", "prefix"],
    ["/namespaces?page_size=1&pageSize=1", "page_size"],
    ["/namespaces?limit=5", "limit"],
    ["/namespaces?page_size=five", "page_size"],
    ["/namespaces?page_size=99999999999", "page_size"],
    ["/namespaces?page_size=3000000000", "page_size"],
    ["/namespaces/n?force=true", "force"],
    ["/namespaces/n?namespace=m", "namespace"],
    ["/namespaces/n/memories?namespace=m", "namespace"],
    ["/namespaces/n/memories?order=1", "order"],
    ["/namespaces/n/memories?page_token=%FF", "query"],
    ["/namespaces//memories", "namespace"],
    ["/account?id=1", "id"],
    ["/usage?days=7.0", "days"],
    ["/usage?days=", "days"],
    ["/calls?errors_only=yes", "errors_only"],
    ["/calls?page_size=0", "page_size"],
    ["/calls?page_token=0", "page_token"],
    ["/keys?page_size=5", "page_size"],
  ])("refuse GET %s with the name of what is wrong", async (path, field) => {
    const protocol = protocolsOf(server.url)[0] as Protocol;
    const { key } = await accountAt(protocol);
    const outcome = await readJson(
      await fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } }),
    );
    expect(outcome).toMatchObject({ code: "invalid_argument", fields: [field] });
  });
});
