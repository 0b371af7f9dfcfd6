import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { DATABASES } from "../support/databases.js";
import { onSharedServer, openAccountAt } from "../support/on-database.js";
import { type Protocol, protocolsOf } from "../support/protocols.js";
import { sharedServer, type TestServer } from "../support/server.js";

const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);

async function accountAt(protocol: Protocol) {
  const { key, call, used } = await openAccountAt(protocol);
  const store = (namespace: string) => call("Store", { namespace, text: `in ${namespace}` });
  const names = async () => {
    const { namespaces } = await call("ListNamespaces", { page_size: 100 });
    return (namespaces as JsonObject[]).map(({ namespace }) => namespace);
  };
  return { key, call, used, store, names };
}

/** What a prefix means of these names, for every protocol. */
const NAMES = ["ana", "ana/a", "ana/b", "ana/ß 😀", "ana0", "an", "delete", "Ana/c"];
const TABLE: readonly [prefix: string, deleted: readonly string[]][] = [
  ["ana/", ["ana/a", "ana/b", "ana/ß 😀"]],
  ["ana/ß ", ["ana/ß 😀"]],
  ["ana", ["ana", "ana/a", "ana/b", "ana/ß 😀", "ana0"]],
  ["delete", ["delete"]],
  ["ana/a/", []],
  ["*", []],
];

describe("a delete by a prefix", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await sharedServer();
  }, 60_000);

  it.each(PROTOCOLS)(
    "means the same through %s",
    async (name) => {
      const { call, used, store, names } = await accountAt(
        protocolsOf(server.url).find((each) => each.name === name) as Protocol,
      );
      const other = await accountAt(protocolsOf(server.url)[0] as Protocol);
      await other.store("ana/a");
      for (const [prefix, expected] of TABLE) {
        for (const namespace of NAMES) await store(namespace);
        const [before, kept] = [await names(), await used()];
        const memories = expected.length;
        expect(await call("DeleteNamespaces", { prefix, dry_run: true })).toEqual({
          deleted: 0,
          more: false,
          namespaces: expected,
          memories,
          matched: memories,
        });
        expect(await names()).toEqual(before);
        const done = { deleted: memories, more: false, namespaces: expected, memories };
        expect(await call("DeleteNamespaces", { prefix })).toEqual(done);
        expect(await names()).toEqual(before.filter((each) => !expected.includes(String(each))));
        expect(await call("DeleteNamespaces", { prefix })).toMatchObject({ deleted: 0, namespaces: [] });
        expect(await used()).toBe(kept);
        await call("DeleteNamespaces", { prefix: "a" });
        await call("DeleteNamespaces", { prefix: "A" });
        await call("DeleteNamespaces", { prefix: "d" });
      }
      expect(await other.names()).toEqual(["ana/a"]);
    },
    60_000,
  );
});

describe.each(DATABASES)("a delete by a prefix on $name", (database) => {
  const here = onSharedServer(database);

  here.test(
    "deletes 100 namespaces a call, until there is no more",
    async () => {
      const { call, store, names } = await accountAt(here.protocol);
      for (const name of ["ana", "bob"]) await store(name);
      const many = Array.from({ length: 103 }, (_, i) => `ana/${String(i).padStart(3, "0")}`);
      for (const name of many) await store(name);
      const dry = await call("DeleteNamespaces", { prefix: "ana/", dry_run: true });
      expect(dry).toMatchObject({ deleted: 0, more: true, matched: 103, memories: 100 });
      expect(dry.namespaces).toEqual(many.slice(0, 100));
      const first = await call("DeleteNamespaces", { prefix: "ana/" });
      expect(first).toMatchObject({ more: true });
      expect(await call("DeleteNamespaces", { prefix: "ana/" })).toMatchObject({
        deleted: 103 - Number(first.deleted),
        more: false,
      });
      expect(await names()).toEqual(["ana", "bob"]);
      await store(many[0] as string);
      expect(await call("CountMemories", { namespace: many[0] as string })).toMatchObject({ memories: 1 });
    },
    120_000,
  );

  here.test("keeps no name of what it deleted in the records of calls", async () => {
    const { call, store } = await accountAt(here.protocol);
    await store("secret/name");
    await call("DeleteNamespaces", { prefix: "secret/" });
    expect(JSON.stringify(await call("ListRecentCalls"))).not.toContain("secret");
  });
});
