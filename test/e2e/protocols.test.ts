import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { HealthCheckRequestSchema, HealthCheckResponseSchema } from "../../gen/health/v1/health_pb.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import {
  GetMemoryRequestSchema,
  MemoryService,
  RecallRequestSchema,
  StoreRequestSchema,
} from "../../gen/recalld/v1/memory_pb.js";
import { type Caller, signUp } from "../support/caller.js";
import { readJson } from "../support/doors.js";
import { startServer, type TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TEXT = "The cat sleeps on the radiator.";

let server: TestServer;
let caller: Caller;
let id: string;

beforeAll(async () => {
  server = await startServer();
  caller = await signUp(server.url);
  id = String((await caller.store({ text: TEXT, namespace: "n" })).body.id);
});
afterAll(() => server.stop());

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

  it("takes JSON, base64, gzip, and the query as any writer escapes it", async () => {
    const packed = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
    const binary = toBinary(GetMemoryRequestSchema, create(GetMemoryRequestSchema, { namespace: "n", id }));
    for (const path of [
      asking({ connect: "v1", encoding: "json", message: message() }),
      asking({ encoding: "json", base64: "1", message: packed(Buffer.from(message())) }),
      asking({ encoding: "proto", base64: "1", message: packed(binary) }),
      asking({ encoding: "proto", base64: "1", message: Buffer.from(binary).toString("base64") }),
      asking({ encoding: "json", base64: "1", compression: "gzip", message: packed(gzipSync(message())) }),
    ]) {
      const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${caller.key}` } });
      expect(answer.status, path).toBe(200);
      expect(await answer.text()).toContain(TEXT);
    }
  });

  it.each([
    [{ message: "{}" }, "encoding"],
    [{ encoding: "xml", message: "{}" }, "encoding"],
    [{ encoding: "json" }, "body"],
    [{ encoding: "json", message: "{" }, "body"],
    [{ encoding: "json", message: '{"namespace":"n","nothing":1}' }, "nothing"],
    [{ encoding: "json", message: "{}", base64: "1" }, "message"],
    [{ encoding: "json", message: "{}", base64: "yes" }, "base64"],
    [{ encoding: "json", message: "{}", connect: "v2" }, "connect"],
    [{ encoding: "json", message: "{}", namespace: "n" }, "namespace"],
    [{ encoding: "proto", base64: "1", message: "Cv8B" }, "body"],
  ])("refuses %j, and names %s", async (query, field) => {
    const outcome = await get(asking(query as Record<string, string>));
    expect(outcome).toMatchObject({ code: "invalid_argument", fields: [field] });
  });

  it("refuses bytes that are not UTF-8, and parameters that come twice", async () => {
    for (const query of ["encoding=json&message=%FF", "encoding=json&message={}&message={}"]) {
      expect(await get(`${GET_MEMORY}?${query}`)).toMatchObject({ code: "invalid_argument" });
    }
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

  it("is charged nothing, and in the log like any other call", async () => {
    const before = await caller.used();
    await get(asking({ encoding: "json", message: message() }));
    expect(await caller.used()).toBe(before);
    expect(server.output()).toMatch(/"method":"recalld.v1.MemoryService\/GetMemory","protocol":"connect"/);
  });
});

describe("gRPC-Web in base64", () => {
  const envelope = (bytes: Uint8Array) => {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes.length, 1);
    return Buffer.concat([head, bytes]);
  };

  /** Splits an answer into frames. Each is a group of base64 that may end with padding. */
  function framesOf(text: string): { flags: number; data: Buffer }[] {
    const parts = text.match(/[^=]+=*/g) ?? [];
    let bytes = Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
    const frames = [];
    while (bytes.length > 0) {
      const length = bytes.readUInt32BE(1);
      frames.push({ flags: bytes.readUInt8(0), data: bytes.subarray(5, 5 + length) });
      bytes = bytes.subarray(5 + length);
    }
    return frames;
  }

  async function call(
    path: string,
    body: string,
    { type = "application/grpc-web-text", key = caller.key } = {},
  ) {
    const headers = { "content-type": type, accept: type, "x-grpc-web": "1", authorization: `Bearer ${key}` };
    const answer = await fetch(server.url + path, { method: "POST", headers, body });
    const frames = framesOf(await answer.text());
    const trailer = frames.find(({ flags }) => flags & 0x80)?.data.toString() ?? "";
    const status = /grpc-status: *(\d+)/i.exec(trailer)?.[1];
    return {
      status,
      type: answer.headers.get("content-type"),
      messages: frames.filter((f) => f.flags === 0),
    };
  }

  const store = (text: string) =>
    toBinary(StoreRequestSchema, create(StoreRequestSchema, { text, namespace: "text" }));
  const STORE = "/recalld.v1.MemoryService/Store";

  it.each([
    "application/grpc-web-text",
    "application/grpc-web-text+proto",
    "application/grpc-web-text; charset=utf-8",
  ])("carries unary calls as %s", async (type) => {
    // The lengths have every remainder by three, so that padding has every length.
    for (const text of ["a", "ab", "abc"]) {
      const { status, messages, ...answer } = await call(STORE, envelope(store(text)).toString("base64"), {
        type,
      });
      expect({ status, messages: messages.length }).toEqual({ status: "0", messages: 1 });
      expect(answer.type).toBe("application/grpc-web-text+proto");
    }
    const query = create(RecallRequestSchema, { query: "a", namespace: "text", topK: 3 });
    const bytes = envelope(toBinary(RecallRequestSchema, query)).toString("base64");
    expect(await call("/recalld.v1.MemoryService/Recall", bytes)).toMatchObject({ status: "0" });
  });

  it("takes pieces that were encoded each for itself", async () => {
    const bytes = envelope(store("in pieces"));
    const pieces = [bytes.subarray(0, 1), bytes.subarray(1, 6), bytes.subarray(6)];
    const text = pieces.map((piece) => piece.toString("base64")).join("");
    expect(await call(STORE, text)).toMatchObject({ status: "0" });
  });

  it("carries the messages of a stream as they come", async () => {
    const request = envelope(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, {})));
    const stop = new AbortController();
    const answer = await fetch(`${server.url}/grpc.health.v1.Health/Watch`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web-text" },
      body: request.toString("base64"),
      signal: stop.signal,
    });
    const { value } = await (answer.body as ReadableStream<Uint8Array>).getReader().read();
    const [first] = framesOf(Buffer.from(value as Uint8Array).toString());
    const serving = toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status: 1 }));
    expect(first?.data).toEqual(Buffer.from(serving));
    stop.abort();
  });

  it.each([
    ["what is not base64", "****"],
    ["base64 that is cut off", envelope(Buffer.from("abc")).toString("base64").slice(0, -1)],
    ["padding in front", "=AAA"],
    ["noise in base64", envelope(Uint8Array.of(0x0a, 0xff, 0x01)).toString("base64")],
  ])("refuses %s", async (_, body) => {
    expect(await call(STORE, body)).toMatchObject({ status: "3", messages: [] });
  });

  it("refuses what is too large, and strangers", async () => {
    const large = envelope(store("x".repeat(1_048_576))).toString("base64");
    expect(await call(STORE, large)).toMatchObject({ status: "8" });
    const { status } = await call(STORE, envelope(store("a")).toString("base64"), { key: "x" });
    expect(status).toBe("16");
  });

  it("is reported as gRPC-Web, with its code", async () => {
    const already = server.output().length;
    await call(STORE, envelope(store("")).toString("base64"));
    const line = () => server.output().slice(already);
    await vi.waitFor(() => expect(line()).toMatch(/"protocol":"grpc-web","code":"invalid_argument"/));
  });
});
