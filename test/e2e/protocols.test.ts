import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { type Caller, signUp } from "../support/caller.js";
import { readJson } from "../support/protocols.js";
import { sharedServer, type TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TEXT = "The cat sleeps on the radiator.";

let server: TestServer;
let caller: Caller;
let id: string;

beforeAll(async () => {
  server = await sharedServer();
  caller = await signUp(server.url);
  id = String((await caller.store({ text: TEXT, namespace: "n" })).body.id);
});

describe("Connect's GET", () => {
  const GET_MEMORY = "/recalld.v1.MemoryService/GetMemory";
  const get = async (path: string, header?: Record<string, string>) =>
    readJson(
      await fetch(server.url + path, { headers: header ?? { authorization: `Bearer ${caller.key}` } }),
    );
  const asking = (query: Record<string, string>) => `${GET_MEMORY}?${new URLSearchParams(query)}`;
  const message = () => JSON.stringify({ namespace: "n", id });

  it.each([true, false])(
    "is how a client may ask what changes nothing (binary: %s)",
    async (useBinaryFormat) => {
      const seen: string[] = [];
      const transport = createConnectTransport({
        baseUrl: server.url,
        useHttpGet: true,
        useBinaryFormat,
        fetch: async (url, init) => {
          const answer = await fetch(url, init);
          seen.push(`${init?.method} ${answer.headers.get("cache-control")}`);
          return answer;
        },
        interceptors: [
          (next) => (request) => {
            request.header.set("authorization", `Bearer ${caller.key}`);
            return next(request);
          },
        ],
      });
      const memories = createClient(MemoryService, transport);
      const accounts = createClient(AccountService, transport);
      expect((await memories.getMemory({ namespace: "n", id })).memory?.text).toBe(TEXT);
      expect((await memories.listMemories({ namespace: "n" })).memories).toHaveLength(1);
      expect((await memories.listNamespaces({})).namespaces).toHaveLength(1);
      expect((await accounts.listKeys({})).keys).toHaveLength(1);
      expect((await accounts.getUsage({ days: 1 })).days).toHaveLength(1);
      expect((await accounts.getAccount({})).accountId).toBe(caller.id);
      await memories.recall({ namespace: "n", query: "cat" });
      expect(seen).toEqual([...Array(6).fill("GET no-store"), "POST no-store"]);
    },
  );

  it("is told of a message that cannot be read", async () => {
    for (const message of ["{", '{"nothing":1}']) {
      const outcome = await get(asking({ encoding: "json", message }));
      expect(outcome).toMatchObject({ status: 400, code: "invalid_argument" });
    }
  });

  it.each([
    [
      "an unknown field",
      { message: '{"namespace":"n","nothing":1}' },
      "nothing is not a field of ListMemories",
    ],
    ["a number in quotes", { message: '{"namespace":"n","page_size":"5"}' }, "page_size is a string"],
    [
      "a number that no double holds",
      { message: '{"namespace":"n","filter":{"a":9007199254740993}}' },
      "filter.a has",
    ],
    ["what is not base64", { message: "%", base64: "1" }, "body is not base64"],
    ["what is not gzip", { message: "e30", base64: "1", compression: "gzip" }, "body is not gzip"],
    [
      "what unpacks to more than a body may have",
      {
        message: gzipSync(`{"namespace":"${"n".repeat(2_000_000)}"}`).toString("base64url"),
        base64: "1",
        compression: "gzip",
      },
      "the body is larger than 1,048,576 bytes",
    ],
  ])("refuses %s in the words of a body", async (_, query, says) => {
    const path = `/recalld.v1.MemoryService/ListMemories?${new URLSearchParams({ encoding: "json", ...query })}`;
    const { code, message } = await get(path);
    expect(message).toContain(says);
    expect(code).toBe(says.includes("larger") ? "resource_exhausted" : "invalid_argument");
  });

  it("reads no key from the query", async () => {
    for (const name of ["key", "api_key", "authorization", "access_token", "x-api-key"]) {
      const query = { encoding: "json", message: message(), [name]: caller.key };
      expect(await get(asking(query), {})).toMatchObject({ status: 401 });
    }
    expect(server.output()).not.toContain(caller.key);
  });

  it("is not there for what changes or costs something", async () => {
    for (const rpc of ["Store", "Recall", "DeleteMemory", "DeleteNamespace"]) {
      const path = `/recalld.v1.MemoryService/${rpc}?encoding=json&message=%7B%7D`;
      expect(await get(path)).toMatchObject({ status: 405, code: "unimplemented" });
    }
  });

  it.each(["", "?message=%7B%7D", "?encoding=xml&message=%7B%7D"])(
    "names the encoding that the query %j lacks, and not a header that no GET has",
    async (query) => {
      expect(await get(`/recalld.v1.MemoryService/GetMemory${query}`)).toMatchObject({
        status: 415,
        message: "encoding of the query must be json or proto",
      });
    },
  );

  it.each(["text/plain", "application/grpc"])("takes a GET whose client names the type %s", async (type) => {
    const headers = { authorization: `Bearer ${caller.key}`, "content-type": type };
    const query = { encoding: "json", message: message() };
    expect(await get(asking(query), headers)).toMatchObject({ status: 200 });
  });

  it("is charged nothing, and in the log like any other call", async () => {
    const before = await caller.used();
    await get(asking({ encoding: "json", message: message() }));
    expect(await caller.used()).toBe(before);
    expect(server.output()).toMatch(/"method":"recalld.v1.MemoryService\/GetMemory","protocol":"connect"/);
  });
});

it("gRPC-Web in base64 is no type that is served", async () => {
  const headers = { "content-type": "application/grpc-web-text", authorization: `Bearer ${caller.key}` };
  const answer = await fetch(`${server.url}/recalld.v1.MemoryService/Recall`, { method: "POST", headers });
  expect(answer.status).toBe(415);
  expect(await answer.text()).toContain("application/grpc-web-text is not served here");
});

it("a time that no timer can wait ends no watch", async () => {
  const { body } = await fetch(`${server.url}/grpc.health.v1.Health/Watch`, {
    method: "POST",
    headers: { "content-type": "application/connect+json", "connect-timeout-ms": "9999999999" },
    body: Buffer.from("\0\0\0\0\x02{}"),
  });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  expect(await Promise.race([reader.read(), sleep(200, "open")])).toBe("open");
  await reader.cancel();
});
