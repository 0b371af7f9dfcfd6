import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { type Keys, KINDS, ok, openAccount, SCOPES, TIMEOUT_MS } from "../support/keys.js";
import { type Protocol, protocolsOf, type RpcName } from "../support/protocols.js";
import { sharedServer, type TestServer } from "../support/server.js";

// Each row has the outcomes for the kinds of keys, in the order of KINDS, of calls on the namespace `mine`.
const [READ_ONLY, OTHER, REVOKED] = ["KEY_READ_ONLY", "KEY_OTHER_NAMESPACE", "unauthenticated"];
const READS = ["ok", "ok", "ok", OTHER, "ok", OTHER, REVOKED];
const WRITES = ["ok", READ_ONLY, "ok", OTHER, READ_ONLY, READ_ONLY, REVOKED];
const MANAGES = ["ok", READ_ONLY, OTHER, OTHER, READ_ONLY, READ_ONLY, REVOKED];
const FOR_ALL = ["ok", "ok", "ok", "ok", "ok", "ok", REVOKED];

const TABLE: Record<RpcName, readonly (string | undefined)[]> = {
  Store: WRITES,
  StoreBatch: WRITES,
  Recall: READS,
  GetMemory: READS,
  UpdateMemory: WRITES,
  GetMemories: READS,
  DeleteMemory: WRITES,
  DeleteMemories: WRITES,
  UpdateMemories: WRITES,
  DeleteNamespace: WRITES,
  DeleteNamespaces: WRITES,
  ListNamespaces: FOR_ALL,
  GetNamespace: READS,
  ListMemories: READS,
  CountMemories: READS,
  SignUp: KINDS.map(() => "ok"),
  GetAccount: FOR_ALL,
  GetUsage: FOR_ALL,
  ListRecentCalls: FOR_ALL,
  CreateKey: MANAGES,
  ListKeys: MANAGES,
  RevokeKey: MANAGES,
  CloseAccount: MANAGES,
};
const RPCS = Object.keys(TABLE) as RpcName[];
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);

describe("scopes", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await sharedServer();
  }, TIMEOUT_MS);

  describe.each(PROTOCOLS)("through %s", (name) => {
    const protocol = () => protocolsOf(server.url).find((each) => each.name === name) as Protocol;
    let account: { id: string; keys: Keys };
    beforeAll(async () => {
      account = await openAccount(protocol());
    }, TIMEOUT_MS);

    /** Makes a request about something that exists. */
    const requestFor = async (rpc: RpcName): Promise<JsonObject> => {
      const key = account.keys.full;
      const stored = await ok(protocol(), "Store", { request: { text: "a", namespace: "mine" }, key });
      const memory = { namespace: "mine", id: stored.id as string };
      if (rpc === "Store") return { text: "b", namespace: "mine" };
      if (rpc === "StoreBatch") return { memories: [{ text: "b" }], namespace: "mine" };
      if (rpc === "Recall") return { query: "a", namespace: "mine" };
      if (rpc === "UpdateMemory") return { ...memory, text: "c" };
      if (rpc === "GetMemory" || rpc === "DeleteMemory") return memory;
      if (rpc === "GetMemories" || rpc === "DeleteMemories") return { namespace: "mine", ids: [memory.id] };
      if (rpc === "UpdateMemories") return { namespace: "mine", ids: [memory.id], metadata: { a: 1 } };
      if (rpc === "DeleteNamespace") return { namespace: "mine", force: true };
      if (rpc === "DeleteNamespaces") return { prefix: "min" };
      if (["ListMemories", "GetNamespace", "CountMemories"].includes(rpc)) {
        return { namespace: "mine" };
      }
      if (rpc === "CloseAccount") return { account_id: account.id };
      if (rpc !== "RevokeKey") return {};
      const made = await ok(protocol(), "CreateKey", { request: { name: "to go" }, key });
      return { id: (made.key as JsonObject).id as string };
    };

    it.each(RPCS)("%s is for whom the table says, and costs nothing when refused", async (rpc) => {
      const used = async () =>
        (await ok(protocol(), "GetAccount", { key: account.keys.full })).calls_used as number;
      let [request, before] = [await requestFor(rpc), await used()];
      // The full key comes last, because it may close the account.
      for (const kind of KINDS.toReversed()) {
        const { code, reason, message } = await protocol().call(rpc, request, { key: account.keys[kind] });
        const told = code === "permission_denied" ? reason : code;
        expect([kind, told]).toEqual([kind, TABLE[rpc][KINDS.indexOf(kind)]]);
        if (code === "permission_denied")
          expect(message).toMatch(/^this key (may only read|is for the namespace)/);
        const isClosing = rpc === "CloseAccount";
        if (isClosing && code === "ok") continue;
        // The next key that is not refused shows whether this one was charged: the full key never is. There is no next
        // one for an account that is closed.
        if (code !== "ok" && !isClosing) continue;
        const paid = code === "ok" && ["Store", "StoreBatch", "Recall", "UpdateMemory"].includes(rpc);
        expect(await used()).toBe(before + (paid ? 1 : 0));
        if (code !== "ok") continue;
        // What it was about may be gone now.
        request = await requestFor(rpc);
        before = await used();
      }
      if (rpc === "CloseAccount") account = await openAccount(protocol());
    });

    it("shows a single-namespace key its own namespace only", async () => {
      const { keys } = account;
      for (const namespace of ["mine", "other", "third"])
        await ok(protocol(), "Store", { request: { text: "a", namespace }, key: keys.full });
      const names = async (key: string) =>
        ((await ok(protocol(), "ListNamespaces", { key })).namespaces as JsonObject[]).map(
          (each) => each.namespace,
        );
      expect(await names(keys.full)).toEqual(["mine", "other", "third"]);
      expect(await names(keys["read-only"])).toEqual(["mine", "other", "third"]);
      expect(await names(keys.mine)).toEqual(["mine"]);
      expect(await names(keys["read-only other"])).toEqual(["other"]);
    });

    it("deletes by a prefix what the key may delete, and refuses the prefix of another namespace", async () => {
      const { keys } = account;
      for (const namespace of ["mine", "mine/2", "minor"])
        await ok(protocol(), "Store", { request: { text: "a", namespace }, key: keys.full });
      const names = async () =>
        (
          (await ok(protocol(), "ListNamespaces", { request: { prefix: "min" }, key: keys.full }))
            .namespaces as JsonObject[]
        ).map((each) => each.namespace);
      const refused = await protocol().call("DeleteNamespaces", { prefix: "mine/" }, { key: keys.mine });
      expect(refused).toMatchObject({ code: "permission_denied", reason: OTHER });
      const dry = await ok(protocol(), "DeleteNamespaces", {
        request: { prefix: "m", dry_run: true },
        key: keys.mine,
      });
      expect(dry).toMatchObject({ deleted: 0, more: false, namespaces: ["mine"], matched: 1 });
      expect(await names()).toEqual(["mine", "mine/2", "minor"]);
      const answer = await ok(protocol(), "DeleteNamespaces", { request: { prefix: "m" }, key: keys.mine });
      expect(answer).toMatchObject({ deleted: 1, more: false, namespaces: ["mine"] });
      expect(await names()).toEqual(["mine/2", "minor"]);
    });

    it("tells every key which one it is, and what it may do", async () => {
      for (const kind of KINDS.filter((each) => each !== "revoked")) {
        const { key } = await ok(protocol(), "GetAccount", { key: account.keys[kind] });
        expect(key).toMatchObject({
          id: expect.stringMatching(/^key_/),
          name: kind === "full" ? "first key" : kind,
          prefix: account.keys[kind].slice(0, 8),
          access: "KEY_ACCESS_FULL",
          namespace: "",
          ...SCOPES[kind],
          current: true,
        });
      }
    });

    it("tells which model reads the texts, in which languages, and what its scores mean", async () => {
      const { model } = await ok(protocol(), "GetAccount", { key: account.keys["read-only other"] });
      expect(model).toEqual({ id: "bundled", languages: ["en"], strong_score: 0.8 });
    });

    it("makes, lists and revokes keys", async () => {
      const { body } = await protocol().call("SignUp", {});
      const key = String(body.api_key);
      const scope = { access: "KEY_ACCESS_READ_ONLY", namespace: "n/ß" };
      const made = await ok(protocol(), "CreateKey", { request: { name: "<b>agent</b>", ...scope }, key });
      expect(made.api_key).toMatch(/^rcl_[0-9A-Za-z]{49}$/);
      expect(made.key).toMatchObject({
        id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
        name: "<b>agent</b>",
        prefix: String(made.api_key).slice(0, 8),
        ...scope,
        replaces: "",
        current: false,
      });
      const { keys } = await ok(protocol(), "ListKeys", { key });
      const [first, second] = keys as [JsonObject, JsonObject];
      expect(first).toMatchObject({
        name: "first key",
        access: "KEY_ACCESS_FULL",
        namespace: "",
        current: true,
      });
      expect(second).toEqual(made.key);
      expect(JSON.stringify(keys)).not.toContain(key);
      await ok(protocol(), "RevokeKey", { request: { id: second.id as string }, key });
      const revoked = await protocol().call("GetAccount", {}, { key: String(made.api_key) });
      expect(revoked.code).toBe("unauthenticated");
      const last = await protocol().call("RevokeKey", { id: first.id as string }, { key });
      expect(last).toMatchObject({ code: "failed_precondition", reason: "LAST_KEY" });
      await ok(protocol(), "RevokeKey", { request: { id: first.id as string, force: true }, key });
      expect((await protocol().call("GetAccount", {}, { key })).code).toBe("unauthenticated");
    });

    it.runIf(protocolsOf("http://127.0.0.1:1").some((each) => each.name === name && each.json))(
      "names the field of an access that is none",
      async () => {
        for (const access of ["FULL", "", 7, true]) {
          const outcome = await protocol().call("CreateKey", { access }, { key: account.keys.full });
          expect(outcome).toMatchObject({ code: "invalid_argument", fields: ["access"] });
        }
      },
    );

    it.each([
      ["CreateKey", { name: "x".repeat(65) }, "invalid_argument", "name"],
      ["CreateKey", { name: "a\u0000b" }, "invalid_argument", "name"],
      ["CreateKey", { namespace: " a" }, "invalid_argument", "namespace"],
      ["CreateKey", { grace_seconds: 86_401, replaces: "key_x" }, "invalid_argument", "grace_seconds"],
      ["CreateKey", { grace_seconds: -1, replaces: "key_x" }, "invalid_argument", "grace_seconds"],
      ["CreateKey", { replaces: "key_x" }, "not_found", "replaces"],
      ["CreateKey", { replaces: "key_x", access: "KEY_ACCESS_READ_ONLY" }, "invalid_argument", "access"],
      ["CreateKey", { replaces: "key_x", namespace: "n" }, "invalid_argument", "namespace"],
      ["CreateKey", { grace_seconds: 1 }, "invalid_argument", "grace_seconds"],
      ["CreateKey", { ttl: "0s" }, "invalid_argument", "ttl"],
      ["CreateKey", { ttl: "-1s" }, "invalid_argument", "ttl"],
      ["CreateKey", { ttl: "315576000000s" }, "invalid_argument", "ttl"],
      ["CreateKey", { expire_time: "2020-01-01T00:00:00Z" }, "invalid_argument", "expire_time"],
      ["RevokeKey", { id: "" }, "invalid_argument", "id"],
      ["RevokeKey", { id: "ses_x" }, "not_found", "id"],
      ["RevokeKey", { id: "key_x" }, "not_found", "id"],
      ["CloseAccount", { account_id: "" }, "invalid_argument", "account_id"],
      ["CloseAccount", { account_id: "acc_x" }, "invalid_argument", "account_id"],
      ["GetUsage", { days: 0 }, "invalid_argument", "days"],
      ["GetUsage", { days: 91 }, "invalid_argument", "days"],
      ["ListRecentCalls", { page_size: 0 }, "invalid_argument", "page_size"],
      ["ListRecentCalls", { page_size: 101 }, "invalid_argument", "page_size"],
      ["ListRecentCalls", { page_token: "no" }, "invalid_argument", "page_token"],
    ] as const)("%s with %j is %s", async (rpc, request, code, field) => {
      const outcome = await protocol().call(rpc, request, { key: account.keys.full });
      expect(outcome).toMatchObject({ code, fields: [field] });
    });
  });
});
