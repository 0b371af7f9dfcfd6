import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { startServer, type TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// These clients share no code with the server: protobufjs under @grpc/grpc-js, Go under buf, and bytes
// written by hand.

const ROOT = join(import.meta.dirname, "../..");
const TEXT = "The cat sleeps on the radiator.";
const BODY_BYTES_MAX = 1_048_576;

let server: TestServer;
let caller: Caller;

beforeAll(async () => {
  server = await startServer();
  caller = await signUp(server.url);
});
afterAll(() => server.stop());

describe("@grpc/grpc-js", () => {
  interface Answered {
    readonly error: grpc.ServiceError | null;
    readonly response: Record<string, unknown>;
    readonly header: grpc.Metadata;
  }
  let memories: grpc.Client;
  let accounts: grpc.Client;

  beforeAll(() => {
    memories = clientOf("recalld/v1/memory.proto", "recalld.v1.MemoryService");
    accounts = clientOf("recalld/v1/account.proto", "recalld.v1.AccountService");
  });
  afterAll(() => {
    memories.close();
    accounts.close();
  });

  const call = (
    client: grpc.Client,
    rpc: string,
    request: unknown,
    header: Record<string, string> = { authorization: `Bearer ${caller.key}` },
    options: grpc.CallOptions = {},
  ) =>
    new Promise<Answered>((resolve) => {
      const metadata = new grpc.Metadata();
      for (const [name, value] of Object.entries(header)) metadata.set(name, value);
      let initial = new grpc.Metadata();
      const method = (client as unknown as Record<string, (...args: unknown[]) => grpc.ClientUnaryCall>)[rpc];
      const running = method?.call(
        client,
        request,
        metadata,
        options,
        (error: grpc.ServiceError | null, response: never) => resolve({ error, response, header: initial }),
      );
      running?.on("metadata", (received) => {
        initial = received;
      });
    });

  it("signs up, stores, recalls and forgets", async () => {
    const signedUp = await call(accounts, "SignUp", { email: "grace@example.org" }, {});
    expect(signedUp.response).toMatchObject({ plan: "free", calls_limit: 1000, calls_used: 0 });
    const header = { authorization: `Bearer ${signedUp.response.api_key}`, "x-request-id": "grpc-js-1" };
    const stored = await call(memories, "Store", { text: TEXT, namespace: "pets" }, header);
    expect(stored.response).toMatchObject({ id: expect.stringMatching(/^mem_/), namespace: "pets" });
    expect(stored.header.get("x-request-id")).toEqual(["grpc-js-1"]);
    const recalled = await call(
      memories,
      "Recall",
      { query: "Where is the cat?", namespace: "pets" },
      header,
    );
    expect(recalled.response).toMatchObject({
      results: [{ id: stored.response.id, text: TEXT, score: expect.any(Number) }],
    });
    const { id } = stored.response;
    expect((await call(memories, "DeleteMemory", { id, namespace: "pets" }, header)).response).toEqual({
      id,
    });
    const account = await call(accounts, "GetAccount", {}, header);
    expect(account.response).toMatchObject({ email: "grace@example.org", calls_used: 2 });
  });

  it.each([
    ["an argument", { query: "a", namespace: "n", top_k: 21 }, grpc.status.INVALID_ARGUMENT, "top_k"],
    ["a missing field", { query: "a" }, grpc.status.INVALID_ARGUMENT, "namespace"],
  ])("is told what is wrong with %s, in details it can read", async (_, request, code, field) => {
    const { error, header } = await call(memories, "Recall", request);
    expect(error?.code).toBe(code);
    expect(error?.details).toContain(field);
    const [details] = error?.metadata.get("grpc-status-details-bin") ?? [];
    const text = (details as Buffer).toString("latin1");
    expect(text).toContain("type.googleapis.com/google.rpc.BadRequest");
    expect(text).toContain(field);
    expect(header.get("x-request-id")[0]).toMatch(/^[\w-]{36}$/);
  });

  it("is told that its key is wrong", async () => {
    for (const header of [{}, { authorization: "Bearer x" }] as Record<string, string>[]) {
      const { error } = await call(memories, "Recall", { query: "a", namespace: "n" }, header);
      expect(error?.code).toBe(grpc.status.UNAUTHENTICATED);
    }
  });

  it("sends and reads gzip", async () => {
    const zipped = clientOf("recalld/v1/memory.proto", "recalld.v1.MemoryService", {
      "grpc.default_compression_algorithm": grpc.compressionAlgorithms.gzip,
    });
    expect((await call(zipped, "Store", { text: TEXT, namespace: "gz" })).error).toBeNull();
    expect((await call(zipped, "Recall", { query: TEXT, namespace: "gz" })).response).toMatchObject({
      results: [{ text: TEXT }],
    });
    zipped.close();
  });

  it("stores once with an idempotency key in its metadata", async () => {
    const header = { authorization: `Bearer ${caller.key}`, "idempotency-key": "from grpc-js" };
    const first = await call(memories, "Store", { text: TEXT, namespace: "once" }, header);
    const second = await call(memories, "Store", { text: TEXT, namespace: "once" }, header);
    expect(second.response).toEqual(first.response);
    expect(second.header.get("idempotent-replayed")).toEqual(["true"]);
  });

  it("gives up at its own deadline", async () => {
    const options = { deadline: Date.now() + 1 };
    const { error } = await call(memories, "Recall", { query: "a", namespace: "n" }, undefined, options);
    expect(error?.code).toBe(grpc.status.DEADLINE_EXCEEDED);
  });

  it("runs a hundred calls at once on one connection", async () => {
    const other = await signUp(server.url);
    const header = { authorization: `Bearer ${other.key}` };
    const calls = Array.from({ length: 150 }, (_, i) =>
      call(memories, "Store", { text: `${TEXT} ${i}`, namespace: "many" }, header),
    );
    for (const { error } of await Promise.all(calls)) expect(error).toBeNull();
    expect(await other.used()).toBe(150);
  });

  it("checks and watches the server's health", async () => {
    const folder = join(ROOT, "node_modules/grpc-health-check/proto");
    const health = clientOf("health/v1/health.proto", "grpc.health.v1.Health", {}, folder);
    for (const service of ["", "recalld.v1.MemoryService", "recalld.v1.AccountService"]) {
      expect((await call(health, "Check", { service }, {})).response).toEqual({ status: "SERVING" });
    }
    expect((await call(health, "Check", { service: "nobody" }, {})).error?.code).toBe(grpc.status.NOT_FOUND);
    const watch = (
      health as unknown as Record<string, (request: unknown) => grpc.ClientReadableStream<unknown>>
    ).Watch?.({ service: "" }) as grpc.ClientReadableStream<unknown>;
    expect(await new Promise((resolve) => watch.once("data", resolve))).toEqual({ status: "SERVING" });
    watch.on("error", () => {});
    watch.cancel();
    health.close();
  });

  function clientOf(
    file: string,
    name: string,
    options: grpc.ClientOptions = {},
    folder = join(ROOT, "proto"),
  ) {
    const definition = loadSync(file, {
      includeDirs: [folder, join(ROOT, "third_party")],
      keepCase: true,
      defaults: true,
      enums: String,
    });
    let found = grpc.loadPackageDefinition(definition) as unknown as Record<string, unknown>;
    for (const part of name.split(".")) found = found[part] as Record<string, unknown>;
    const Client = found as unknown as grpc.ServiceClientConstructor;
    return new Client(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure(), options);
  }
});

describe("buf curl, which asks the server for its contract", () => {
  const run = promisify(execFile);
  const buf = join(ROOT, "node_modules/.bin/buf");
  const curl = (path: string, ...args: string[]) =>
    run(buf, ["curl", "--http2-prior-knowledge", ...args, `${server.url}${path}`]);
  const json = async (...args: Parameters<typeof curl>) => JSON.parse((await curl(...args)).stdout);

  it.each(["connect", "grpc", "grpcweb"])("signs up, stores and recalls over %s", async (protocol) => {
    const ask = (rpc: string, data: JsonObject, key?: string) =>
      json(
        `/recalld.v1.${rpc}`,
        ...["--protocol", protocol, "-d", JSON.stringify(data)],
        ...(key === undefined ? [] : ["-H", `Authorization: Bearer ${key}`]),
      );
    const { apiKey } = await ask("AccountService/SignUp", {});
    expect(apiKey).toMatch(/^rcl_/);
    const request = { text: TEXT, namespace: "buf", metadata: { a: [1, { b: null }] } };
    const { id } = await ask("MemoryService/Store", request, apiKey);
    const { results } = await ask("MemoryService/Recall", { query: "cat", namespace: "buf" }, apiKey);
    expect(results).toMatchObject([{ id, text: TEXT, metadata: { a: [1, { b: null }] } }]);
  });

  it("lists the services and their methods", async () => {
    const { stdout } = await curl("", "--list-services");
    expect(stdout.trim().split("\n")).toEqual(
      expect.arrayContaining([
        "grpc.health.v1.Health",
        "recalld.v1.AccountService",
        "recalld.v1.MemoryService",
      ]),
    );
    const methods = (await curl("", "--list-methods")).stdout;
    expect(methods).toContain("recalld.v1.MemoryService/Recall");
  });

  it("is told what is wrong", async () => {
    const failed = curl("/recalld.v1.MemoryService/Recall", "--protocol", "grpc", "-d", "{}");
    await expect(failed).rejects.toMatchObject({
      stderr: expect.stringMatching(/"code": *"unauthenticated"/),
    });
  });
});

describe("bytes written by hand", () => {
  const memory = (...fields: ((writer: BinaryWriter) => void)[]) => {
    const writer = new BinaryWriter();
    for (const field of fields) field(writer);
    return writer.finish();
  };
  const bytes = (no: number, value: Uint8Array) => (writer: BinaryWriter) =>
    void writer.tag(no, WireType.LengthDelimited).bytes(value);
  const text = (no: number, value: string) => bytes(no, Buffer.from(value));
  const plain = [text(1, TEXT), text(2, "raw")] as const;
  const number = (value: number) => toBinary(StructSchema, structOf({ x: { case: "numberValue", value } }));
  const valid = () => memory(...plain);
  const parts = (seconds: bigint, nanos: number) =>
    toBinary(TimestampSchema, create(TimestampSchema, { seconds, nanos }));

  /** Makes a Struct in a Value in a Struct, to this depth, written from the inside out. */
  const nested = (depth: number) => {
    let struct = memory();
    for (let i = 0; i < depth; i++)
      struct = memory(bytes(1, memory(text(1, "a"), bytes(2, memory(bytes(5, struct))))));
    return struct;
  };

  const REFUSED: [string, () => Uint8Array][] = [
    ["a text that is not UTF-8", () => memory(bytes(1, Uint8Array.of(0x61, 0xff, 0xfe)), text(2, "raw"))],
    ["a text of half a character", () => memory(bytes(1, Uint8Array.of(0xf0, 0x9f, 0x90)), text(2, "raw"))],
    ["a text with a surrogate", () => memory(bytes(1, Uint8Array.of(0xed, 0xa0, 0x80)), text(2, "raw"))],
    ["a namespace that is not UTF-8", () => memory(text(1, TEXT), bytes(2, Uint8Array.of(0xc0, 0x80)))],
    ["Infinity in metadata", () => memory(...plain, bytes(3, number(Number.POSITIVE_INFINITY)))],
    ["NaN in metadata", () => memory(...plain, bytes(3, number(Number.NaN)))],
    ["metadata 200 deep", () => memory(...plain, bytes(3, nested(200)))],
    ["metadata 5,000 deep", () => memory(...plain, bytes(3, nested(5_000)))],
    [
      "a metadata key that is not UTF-8",
      () => memory(...plain, bytes(3, memory(bytes(1, memory(bytes(1, Uint8Array.of(0xff))))))),
    ],
    ["an event time with negative nanos", () => memory(...plain, bytes(10, parts(1_700_000_000n, -1)))],
    ["an expiry with negative nanos", () => memory(...plain, bytes(6, parts(4_000_000_000n, -1)))],
    ["an expiry with a whole second of nanos", () => memory(...plain, bytes(6, parts(4_000_000_000n, 1e9)))],
    ["a lifetime of parts with different signs", () => memory(...plain, bytes(7, parts(60n, -1)))],
    ["a lifetime of more than 10,000 years", () => memory(...plain, bytes(7, parts(315_576_000_001n, 0)))],
    ["a message cut off", () => valid().subarray(0, -3)],
    ["a length beyond the end", () => Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x07, 0x61)],
    ["a field number of 0", () => Uint8Array.of(0x02, 0x01, 0x61)],
    ["a wire type that is none", () => Uint8Array.of(0x0f, 0x01)],
    ["a varint without an end", () => new Uint8Array(20).fill(0xff)],
    ["noise", () => Uint8Array.from({ length: 200 }, (_, i) => (i * 97 + 13) % 256)],
  ];
  const TAKEN: [string, () => Uint8Array][] = [
    ["a field nobody knows", () => memory(...plain, text(99, "from a later version"))],
    ["a field twice, of which the last holds", () => memory(text(1, "no"), ...plain)],
    [
      "metadata with no value",
      () => memory(...plain, bytes(3, memory(bytes(1, memory(text(1, "a"), bytes(2, memory())))))),
    ],
  ];

  const PROTOCOLS = ["Connect", "gRPC-Web", "gRPC"] as const;

  describe.each(PROTOCOLS)("over %s", (protocol) => {
    it.each(REFUSED)("is refused: %s", async (_, make) => {
      const before = await caller.used();
      expect(await send(protocol, make())).toBe("invalid_argument");
      expect(await caller.used()).toBe(before);
      expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    });

    it.each(TAKEN)("is taken: %s", async (_, make) => {
      expect(await send(protocol, make())).toBe("ok");
    });

    it("is refused: more than 1 MiB, as it is or after gzip", async () => {
      const before = await caller.used();
      const large = memory(...plain, text(99, "x".repeat(BODY_BYTES_MAX)));
      expect(await send(protocol, large)).toBe("resource_exhausted");
      const bomb = new Uint8Array(gzipSync(Buffer.alloc(256 * BODY_BYTES_MAX)));
      expect(await send(protocol, bomb, { gzip: true })).toBe("resource_exhausted");
      expect(await caller.used()).toBe(before);
    });
  });

  it.each(["gRPC", "gRPC-Web"] as const)(
    "is refused over %s: an envelope cut off, or that promises 4 GiB",
    async (protocol) => {
      const before = await caller.used();
      expect(await sendEnveloped(protocol, envelope(valid()).subarray(0, -3))).toBe("invalid_argument");
      expect(await sendEnveloped(protocol, envelope(valid()).subarray(0, 3))).toBe("invalid_argument");
      const promise = Buffer.concat([Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff), valid()]);
      expect(await sendEnveloped(protocol, promise)).toBe("resource_exhausted");
      expect(await sendEnveloped(protocol, new Uint8Array())).not.toBe("ok");
      expect(await caller.used()).toBe(before);
    },
  );
});

function structOf(fields: Record<string, { case: "numberValue"; value: number }>) {
  const values = Object.entries(fields).map(([key, kind]) => [
    key,
    { $typeName: "google.protobuf.Value" as const, kind },
  ]);
  return { $typeName: "google.protobuf.Struct" as const, fields: Object.fromEntries(values) };
}

const GRPC_CODES: Record<string, string> = {
  "0": "ok",
  "3": "invalid_argument",
  "8": "resource_exhausted",
  "12": "unimplemented",
  "13": "internal",
};

/** Sends one Store of these bytes and returns the code. */
async function send(
  protocol: "Connect" | "gRPC-Web" | "gRPC",
  message: Uint8Array,
  { gzip = false } = {},
): Promise<string> {
  if (protocol !== "Connect") return sendEnveloped(protocol, envelope(message, gzip), gzip);
  const headers: Record<string, string> = {
    authorization: `Bearer ${caller.key}`,
    "content-type": "application/proto",
    ...(gzip && { "content-encoding": "gzip" }),
  };
  const url = `${server.url}/recalld.v1.MemoryService/Store`;
  const response = await fetch(url, { method: "POST", headers, body: new Uint8Array(message) });
  return response.status === 200 ? "ok" : ((await response.json()) as { code: string }).code;
}

function envelope(message: Uint8Array, gzip = false): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(gzip ? 1 : 0, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

async function sendEnveloped(protocol: "gRPC-Web" | "gRPC", body: Uint8Array, gzip = false): Promise<string> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${caller.key}`,
    "content-type": protocol === "gRPC" ? "application/grpc" : "application/grpc-web+proto",
    te: "trailers",
    ...(gzip && { "grpc-encoding": "gzip" }),
  };
  const status = protocol === "gRPC" ? await overHttp2(headers, body) : await overHttp1(headers, body);
  return GRPC_CODES[status] ?? `grpc-status ${status}`;
}

async function overHttp1({ te: _, ...headers }: Record<string, string>, body: Uint8Array): Promise<string> {
  const url = `${server.url}/recalld.v1.MemoryService/Store`;
  const response = await fetch(url, { method: "POST", headers, body: new Uint8Array(body) });
  const text = await response.text();
  return response.headers.get("grpc-status") ?? /grpc-status: *(\d+)/i.exec(text)?.[1] ?? text;
}

async function overHttp2(headers: Record<string, string>, body: Uint8Array): Promise<string> {
  const { connect } = await import("node:http2");
  const session = connect(server.url);
  try {
    return await new Promise<string>((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/recalld.v1.MemoryService/Store",
        ...headers,
      });
      const tell = (found: Record<string, unknown>) => {
        if (found["grpc-status"] !== undefined) resolve(String(found["grpc-status"]));
      };
      stream.on("response", tell).on("trailers", tell).on("error", reject);
      stream.on("close", () => resolve(`none, HTTP/2 code ${stream.rstCode}`));
      stream.resume().end(body);
    });
  } finally {
    session.close();
  }
}
