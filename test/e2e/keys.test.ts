import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DATABASES, MONGO_DATABASE } from "../support/databases.js";
import { ok, openAccount, TIMEOUT_MS } from "../support/keys.js";
import { type Protocol, protocolsOf } from "../support/protocols.js";
import type { TestServer } from "../support/server.js";

/** Time after which a key's grace of one second is over. */
const OVER_MS = 1_200;

describe.each(DATABASES)("keys on $name", ({ make, missing }) => {
  let server: TestServer;
  let protocol: Protocol;
  beforeAll(async () => {
    if (missing !== undefined) return;
    server = await (await make()).start();
    protocol = protocolsOf(server.url)[0] as Protocol;
  }, TIMEOUT_MS);
  afterAll(() => server?.stop());
  const signUp = async () => String((await protocol.call("SignUp", {})).body.api_key);
  const idOf = (made: JsonObject) => String((made.key as JsonObject).id);

  it.skipIf(missing !== undefined)("rotates a key without a moment in which none works", async () => {
    const admin = await signUp();
    const scope = { access: "KEY_ACCESS_READ_ONLY", namespace: "n" };
    const old = await ok(protocol, "CreateKey", { request: { name: "agent", ...scope }, key: admin });
    const request = { replaces: idOf(old), grace_seconds: 1 };
    const young = await ok(protocol, "CreateKey", { request, key: admin });
    expect(young.key).toMatchObject({ name: "agent", ...scope, replaces: idOf(old) });
    const [before, after] = [String(old.api_key), String(young.api_key)];
    await new Promise((resolve) => setTimeout(resolve, OVER_MS));
    await ok(protocol, "GetAccount", { key: before });
    await ok(protocol, "GetAccount", { key: after });
    await ok(protocol, "Recall", { request: { query: "a", namespace: "n" }, key: before });
    const { keys } = await ok(protocol, "ListKeys", { key: admin });
    expect(keys).toMatchObject([{}, { expires_at: expect.any(String) }, { replaces: "" }]);
    await new Promise((resolve) => setTimeout(resolve, OVER_MS));
    for (const rpc of ["GetAccount", "Recall", "ListNamespaces"] as const) {
      const refused = await protocol.call(rpc, rpc === "Recall" ? { query: "a", namespace: "n" } : {}, {
        key: before,
      });
      expect(refused.code).toBe("unauthenticated");
    }
    await ok(protocol, "GetAccount", { key: after });
    expect(((await ok(protocol, "ListKeys", { key: admin })).keys as []).length).toBe(2);
  });

  it.skipIf(missing !== undefined)("refuses a key from its end on, through every protocol", async () => {
    const key = await signUp();
    const protocols = protocolsOf(server.url);
    const [ttl, atMs] = [2_000, Date.now() + 2_500];
    const made = await ok(protocol, "CreateKey", { request: { name: "brief", ttl: `${ttl / 1000}s` }, key });
    const expire_time = new Date(atMs).toISOString();
    const timed = await ok(protocol, "CreateKey", { request: { name: "timed", expire_time }, key });
    const ends = (answer: JsonObject) => Date.parse(String((answer.key as JsonObject).expires_at));
    expect([ends(timed), Math.abs(ends(made) - Date.now() - ttl) < 1_000]).toEqual([atMs, true]);
    for (const each of protocols) {
      for (const { api_key } of [made, timed]) await ok(each, "GetAccount", { key: String(api_key) });
    }
    expect((await ok(protocol, "ListKeys", { key })).keys).toHaveLength(3);
    await new Promise((resolve) => setTimeout(resolve, Math.max(atMs, ends(made)) - Date.now() + 1));
    expect((await ok(protocol, "ListKeys", { key })).keys).toHaveLength(1);
    for (const each of protocols) {
      for (const rpc of ["GetAccount", "Recall", "Store"] as const) {
        const request = { GetAccount: {}, Recall: { query: "a" }, Store: { text: "a" } }[rpc];
        const fields = rpc === "GetAccount" ? {} : { ...request, namespace: "n" };
        const { code } = await each.call(rpc, fields, { key: String(made.api_key) });
        expect([each.name, rpc, code]).toEqual([each.name, rpc, "unauthenticated"]);
      }
    }
  });

  it.skipIf(missing !== undefined)(
    "rotates into a key that ends when it is told to, and else never",
    async () => {
      const key = await signUp();
      const old = await ok(protocol, "CreateKey", { request: { ttl: "600s" }, key });
      const request = { replaces: idOf(old) };
      const lasting = await ok(protocol, "CreateKey", { request, key });
      expect(lasting.key).not.toHaveProperty("expires_at");
      const brief = await ok(protocol, "CreateKey", { request: { ...request, ttl: "60s" }, key });
      expect(brief.key).toMatchObject({ expires_at: expect.any(String), replaces: idOf(old) });
    },
  );

  it.skipIf(missing !== undefined)("lets an account have 50 keys", async () => {
    const key = await signUp();
    for (let i = 1; i < 50; i++) await ok(protocol, "CreateKey", { request: { name: `${i}` }, key });
    const outcome = await protocol.call("CreateKey", { name: "50" }, { key });
    expect(outcome).toMatchObject({ code: "failed_precondition", reason: "KEYS_LIMIT" });
  });

  it.skipIf(missing !== undefined)("closes an account: keys refused, memories gone", async () => {
    const { body } = await protocol.call("SignUp", {});
    const [key, other] = [String(body.api_key), await signUp()];
    for (const namespace of ["a", "b", "b"]) {
      for (const each of [key, other])
        await ok(protocol, "Store", { request: { text: "a", namespace }, key: each });
    }
    const request = { account_id: body.account_id as string };
    expect(await ok(protocol, "CloseAccount", { request, key })).toEqual({ deleted: 3 });
    for (const rpc of ["GetAccount", "CloseAccount", "ListNamespaces"] as const) {
      const outcome = await protocol.call(rpc, rpc === "CloseAccount" ? request : {}, { key });
      expect(outcome.code).toBe("unauthenticated");
    }
    expect((await protocol.call("Recall", { query: "a", namespace: "a" }, { key })).code).toBe(
      "unauthenticated",
    );
    expect((await ok(protocol, "ListNamespaces", { key: other })).namespaces).toHaveLength(2);
  });
});

describe.skipIf(MONGO_DATABASE.missing !== undefined)(`two servers over one ${MONGO_DATABASE.name}`, () => {
  let servers: TestServer[];
  beforeAll(async () => {
    const database = await MONGO_DATABASE.make();
    servers = await Promise.all([database.start(), database.start()]);
  }, TIMEOUT_MS);
  afterAll(async () => void (await Promise.all(servers.map(({ stop }) => stop()))));

  it("refuse a key at once that the other revoked, for every RPC", async () => {
    const [here, there] = servers.map(({ url }) => protocolsOf(url)[1]) as [Protocol, Protocol];
    const { keys } = await openAccount(here);
    const calls = [
      ["Store", { text: "a", namespace: "n" }],
      ["Recall", { query: "a", namespace: "n" }],
      ["GetMemory", { namespace: "n", id: `mem_${"0".repeat(26)}` }],
      ["DeleteMemory", { namespace: "n", id: `mem_${"0".repeat(26)}` }],
      ["DeleteNamespace", { namespace: "n" }],
      ["ListNamespaces", {}],
      ["ListMemories", { namespace: "n" }],
      ["GetAccount", {}],
      ["GetUsage", {}],
      ["CreateKey", {}],
      ["ListKeys", {}],
      ["RevokeKey", { id: "key_x" }],
      ["CloseAccount", { account_id: "acc_x" }],
    ] as const;
    for (const [rpc, request] of calls) {
      const made = await ok(here, "CreateKey", { key: keys.full });
      const key = String(made.api_key);
      await ok(there, "GetAccount", { key });
      const id = (made.key as JsonObject).id as string;
      await ok(here, "RevokeKey", { request: { id }, key: keys.full });
      expect([rpc, (await there.call(rpc, request, { key })).code]).toEqual([rpc, "unauthenticated"]);
    }
  });

  it("rotate a key that both see first used at once", async () => {
    const [here, there] = servers.map(({ url }) => protocolsOf(url)[1]) as [Protocol, Protocol];
    const { keys } = await openAccount(here);
    const old = await ok(here, "CreateKey", { key: keys.full });
    const request = { replaces: (old.key as JsonObject).id as string };
    const key = String((await ok(here, "CreateKey", { request, key: keys.full })).api_key);
    await Promise.all([here, there, here, there].map((protocol) => ok(protocol, "GetAccount", { key })));
    for (const protocol of [here, there]) {
      expect((await protocol.call("GetAccount", {}, { key: String(old.api_key) })).code).toBe(
        "unauthenticated",
      );
    }
  });
});
