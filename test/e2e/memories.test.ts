import { create, type DescMethodUnary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { ConnectError, createContextValues, type Transport } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { type Caller, resultsOf, signUp } from "../support/caller.js";
import { DATABASES } from "../support/databases.js";
import { IMPATIENT, LONG_READ } from "../support/failing.js";
import { readJson } from "../support/protocols.js";
import { exchange } from "../support/raw.js";
import type { TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

type RpcName = "Store" | "GetMemory" | "DeleteMemory" | "DeleteNamespace";
type Header = Record<string, string>;

interface Answer {
  readonly code: string;
  readonly reason: string | undefined;
  readonly body: JsonObject;
  readonly header: Headers;
}

/** One path to these RPCs. */
interface Way {
  readonly name: string;
  call(rpc: RpcName, request: JsonObject, header?: Header): Promise<Answer>;
}

const NO_SUCH_ID = "mem_01jdh2zz00e00r0000000000v7";
const TIMEOUT_MS = 60_000;

const WAYS: [string, (url: string, key: string) => Way["call"]][] = [
  ["the plain paths", plainWay],
  ["Connect JSON", jsonWay],
  [
    "Connect binary",
    (url, key) => binaryWay(createConnectTransport({ ...at(url), useBinaryFormat: true }), key),
  ],
  ["gRPC", (url, key) => binaryWay(createGrpcTransport({ baseUrl: url }), key)],
  ["gRPC-Web", (url, key) => binaryWay(createGrpcWebTransport(at(url)), key)],
];

describe.each(DATABASES)("on $name", ({ make, missing }) => {
  let server: TestServer;
  beforeAll(async () => {
    if (missing === undefined) server = await (await make()).start();
  }, TIMEOUT_MS);
  afterAll(() => server?.stop());

  it.skipIf(missing !== undefined)(
    "finds namespace .. on a path that its client did not resolve",
    async () => {
      const caller = await signUp(server.url);
      const { body } = await caller.store({ text: "The cat sleeps.", namespace: ".." });
      const path = `/namespaces/%2e%2e/memories/${body.id}`;
      const lines = [`GET ${path} HTTP/1.0`, `Authorization: Bearer ${caller.key}`, "", ""];
      expect(await exchange(server.port, lines.join("\r\n"))).toMatch(/^HTTP\/1.1 200 [\s\S]*The cat sleeps/);
    },
  );

  describe.skipIf(missing !== undefined).each(WAYS)("through %s", (_, open) => {
    let caller: Caller;
    let call: Way["call"];
    beforeEach(async () => {
      caller = await signUp(server.url);
      call = open(server.url, caller.key);
    });
    const stored = async (namespace: string, text = "The cat sleeps.", metadata: JsonObject = {}) =>
      (await caller.store({ text, namespace, metadata })).body as {
        id: string;
        created_at: string;
        tokens: number;
      };
    const visibleTexts = async (namespace: string) =>
      resultsOf(await caller.recall("cat", namespace, 20)).map(({ text }) => text);

    it.each(["pets", "a/b:c%2F", "mañana 🐈", "é".repeat(128), "?force=true#x", "__proto__"])(
      "gets and deletes a memory of namespace %s, at no cost",
      async (namespace) => {
        const metadata = { a: [1, null, { b: "é" }] };
        const { id, created_at, tokens } = await stored(namespace, "The cat sleeps.", metadata);
        const got = await call("GetMemory", { namespace, id });
        const memory = { id, text: "The cat sleeps.", metadata, tokens, created_at };
        expect(got).toMatchObject({ code: "ok", body: { memory, namespace } });
        expect(await call("DeleteMemory", { namespace, id })).toMatchObject({ code: "ok", body: { id } });
        expect((await call("GetMemory", { namespace, id })).code).toBe("not_found");
        expect((await call("DeleteMemory", { namespace, id })).code).toBe("not_found");
        expect(await caller.used()).toBe(1);
        expect(await visibleTexts(namespace)).toEqual([]);
      },
    );

    it("finds a memory in its own namespace alone", async () => {
      const { id } = await stored("mine");
      await stored("other", "The dog barks.");
      for (const rpc of ["GetMemory", "DeleteMemory"] as const) {
        for (const namespace of ["other", "never"]) {
          expect((await call(rpc, { namespace, id })).code).toBe("not_found");
        }
        expect((await call(rpc, { namespace: "mine", id: NO_SUCH_ID })).code).toBe("not_found");
      }
      expect(await visibleTexts("mine")).toEqual(["The cat sleeps."]);
    });

    it("refuses an id of another form and a namespace that cannot be one", async () => {
      for (const id of [
        "x",
        "mem_",
        `${NO_SUCH_ID}0`,
        NO_SUCH_ID.toUpperCase(),
        "mem_81jdh2zz00e00r0000000000v7",
      ]) {
        for (const rpc of ["GetMemory", "DeleteMemory"] as const) {
          expect((await call(rpc, { namespace: "n", id })).code, id).toBe("invalid_argument");
        }
      }
      for (const namespace of [" n", "a\nb", "n".repeat(257)]) {
        expect((await call("GetMemory", { namespace, id: NO_SUCH_ID })).code).toBe("invalid_argument");
        expect((await call("DeleteNamespace", { namespace })).code).toBe("invalid_argument");
      }
    });

    it("forgets one memory and recalls the others", async () => {
      const { id } = await stored("n", "The cat sleeps.");
      await stored("n", "A kitten naps.");
      expect(await visibleTexts("n")).toHaveLength(2);
      await call("DeleteMemory", { namespace: "n", id });
      expect(await visibleTexts("n")).toEqual(["A kitten naps."]);
    });

    it("drops a namespace that is not empty only when forced, and begins it anew", async () => {
      expect((await call("DeleteNamespace", { namespace: "n" })).code).toBe("not_found");
      const { id } = await stored("n");
      await stored("n", "A kitten naps.");
      expect(await call("DeleteNamespace", { namespace: "n" })).toMatchObject({
        code: "failed_precondition",
        reason: "NAMESPACE_NOT_EMPTY",
      });
      expect(await visibleTexts("n")).toHaveLength(2);
      const dropped = await call("DeleteNamespace", { namespace: "n", force: true });
      expect(dropped).toMatchObject({ code: "ok", body: { deleted: 2 } });
      expect(await visibleTexts("n")).toEqual([]);
      expect((await call("GetMemory", { namespace: "n", id })).code).toBe("not_found");
      expect((await call("DeleteNamespace", { namespace: "n", force: true })).code).toBe("not_found");
      await stored("n", "A new cat.");
      expect(await visibleTexts("n")).toEqual(["A new cat."]);
    });

    it("drops an empty namespace without force", async () => {
      const { id } = await stored("n");
      await call("DeleteMemory", { namespace: "n", id });
      expect(await call("DeleteNamespace", { namespace: "n" })).toMatchObject({
        code: "ok",
        body: { deleted: 0 },
      });
    });

    it("stores once what comes twice with one key, and charges once", async () => {
      const header = { "idempotency-key": "order 66: a/b" };
      const request = { text: "The cat sleeps.", namespace: "n", metadata: { a: 1 } };
      const first = await call("Store", request, header);
      expect(first.code).toBe("ok");
      expect(first.header.get("idempotent-replayed")).toBeNull();
      const second = await call("Store", request, header);
      expect(second.body).toEqual(first.body);
      expect(second.header.get("idempotent-replayed")).toBe("true");
      for (const other of [{ text: "Another." }, { namespace: "m" }, { metadata: { a: 2 } }]) {
        expect(await call("Store", { ...request, ...other }, header)).toMatchObject({
          code: "already_exists",
          reason: "IDEMPOTENCY_KEY_REUSED",
        });
      }
      expect(await caller.used()).toBe(1);
      expect(await visibleTexts("n")).toEqual(["The cat sleeps."]);
    });

    it("stores once what comes ten times at once", async () => {
      const request = { text: "The cat sleeps.", namespace: "n" };
      const calls = Array.from({ length: 10 }, () => call("Store", request, { "idempotency-key": "k" }));
      const answers = await Promise.all(calls);
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      expect(answers.filter(({ header }) => header.get("idempotent-replayed") === "true")).toHaveLength(9);
      expect(await caller.used()).toBe(1);
      expect(await visibleTexts("n")).toHaveLength(1);
    });

    it("takes keys of 255 characters, and no longer ones", async () => {
      const request = { text: "The cat sleeps.", namespace: "n" };
      const key = (length: number) => ({ "idempotency-key": "k".repeat(length) });
      expect((await call("Store", request, key(255))).code).toBe("ok");
      expect((await call("Store", request, key(256))).code).toBe("invalid_argument");
      expect(await caller.used()).toBe(1);
    });

    it("keeps one account's keys apart from another's, and frees the key of a store that failed", async () => {
      const header = { "idempotency-key": "k" };
      const request = { text: "The cat sleeps.", namespace: "n" };
      const failed = await call("Store", { ...request, text: LONG_READ }, { ...header, ...IMPATIENT });
      expect(failed.code).toBe("deadline_exceeded");
      // The answer does not wait until the key is free.
      const mine = await vi.waitFor(
        async () => {
          const again = await call("Store", request, header);
          expect(again.code).toBe("ok");
          return again;
        },
        { timeout: 10_000 },
      );
      const theirs = await open(server.url, (await signUp(server.url)).key)("Store", request, header);
      expect([mine.code, theirs.code]).toEqual(["ok", "ok"]);
      expect(theirs.body.id).not.toBe(mine.body.id);
    });
  });
});

function at(baseUrl: string) {
  return { baseUrl, httpVersion: "1.1" as const };
}

function plainWay(url: string, key: string): Way["call"] {
  return async (rpc, request, header = {}) => {
    const { namespace, id, force } = request as { namespace: string; id?: string; force?: boolean };
    const path = `/namespaces/${encodeURIComponent(namespace)}${id === undefined ? "" : `/memories/${encodeURIComponent(id)}`}`;
    const headers = { authorization: `Bearer ${key}`, ...header };
    if (rpc === "Store") {
      const json = { ...headers, "content-type": "application/json" };
      return readJson(
        await fetch(`${url}/store`, { method: "POST", headers: json, body: JSON.stringify(request) }),
      );
    }
    const query = force === undefined ? "" : `?force=${force}`;
    const method = rpc === "GetMemory" ? "GET" : "DELETE";
    return readJson(await fetch(url + path + query, { method, headers }));
  };
}

function jsonWay(url: string, key: string): Way["call"] {
  return async (rpc, request, header = {}) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...header };
    const path = `${url}/recalld.v1.MemoryService/${rpc}`;
    return readJson(await fetch(path, { method: "POST", headers, body: JSON.stringify(request) }));
  };
}

function binaryWay(transport: Transport, key: string): Way["call"] {
  return async (rpc, { metadata, ...request }, header = {}) => {
    const method = MemoryService.methods.find(({ name }) => name === rpc) as DescMethodUnary;
    const message = create(method.input, { ...fromJson(method.input, request), metadata } as never);
    const headers = { authorization: `Bearer ${key}`, ...header };
    try {
      const answer = await transport.unary(
        method,
        undefined,
        undefined,
        headers,
        message,
        createContextValues(),
      );
      const body = toJson(method.output, answer.message, {
        useProtoFieldName: true,
        alwaysEmitImplicit: true,
      });
      return { code: "ok", reason: undefined, body: body as JsonObject, header: answer.header };
    } catch (error) {
      const failed = ConnectError.from(error);
      const reason = failed.findDetails(ErrorInfoSchema)[0]?.reason;
      return { code: codeToString(failed.code), reason, body: {}, header: failed.metadata };
    }
  };
}
