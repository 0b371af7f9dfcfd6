import { connect } from "node:http2";
import { gzipSync } from "node:zlib";
import { toBinary } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { HealthCheckRequestSchema } from "../../gen/health/v1/health_pb.js";
import { type Caller, signUp } from "../support/caller.js";
import { type Outcome, protocolsOf, readJson } from "../support/protocols.js";
import { exchange } from "../support/raw.js";
import { sharedServer, type TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const STORE_RPC = "/recalld.v1.MemoryService/Store";
const TEXT = "The cat sleeps on the radiator.";
const BODY_BYTES_MAX = 1_048_576;
const ID = "mem_01h455vb4pex5vsknk084sn02q";

let server: TestServer;
let caller: Caller;

beforeAll(async () => {
  server = await sharedServer();
  caller = await signUp(server.url);
});

const authorized = (header: Record<string, string> = {}) => ({
  authorization: `Bearer ${caller.key}`,
  "content-type": "application/json",
  ...header,
});

/** Posts a body unchanged. */
async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  header?: Record<string, string>,
): Promise<Outcome> {
  return readJson(await fetch(server.url + path, { method: "POST", headers: authorized(header), body }));
}

describe("an idempotency key", () => {
  it("takes metadata for the same whatever the order of its keys, at every depth", async () => {
    const store = (metadata: string) =>
      post("/store", `{"text":"${TEXT}","namespace":"once","metadata":${metadata}}`, {
        "idempotency-key": "order",
      });
    const first = await store('{"b":{"y":[{"p":1,"q":2}],"x":1.50},"a":10,"2":0,"1":0}');
    expect(first.code).toBe("ok");
    const again = await store('{"1":0,"2":0,"a":1e1,"b":{"x":1.5,"y":[{"q":2,"p":1}]}}');
    expect(again).toMatchObject({ code: "ok", body: first.body });
    expect(again.header.get("idempotent-replayed")).toBe("true");
    // The first value is kept.
    const { body } = await caller.get("once", String(first.body.id));
    expect(JSON.stringify((body.memory as { metadata: unknown }).metadata)).toBe(
      '{"1":0,"2":0,"b":{"y":[{"p":1,"q":2}],"x":1.5},"a":10}',
    );
  });

  it.each([
    ['{"a":1,"b":2}', '{"a":2,"b":1}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":{}}', '{"a":[]}'],
    ['{"a":null}', "{}"],
    ['{"__proto__":{"a":1}}', "{}"],
  ])("tells %s from %s", async (one, other) => {
    const store = (metadata: string) =>
      post("/store", `{"text":"${TEXT}","namespace":"once","metadata":${metadata}}`, {
        "idempotency-key": `${one} ${other}`.replace(/\W/g, (char) => String(char.charCodeAt(0))),
      });
    expect((await store(one)).code).toBe("ok");
    expect(await store(other)).toMatchObject({ code: "already_exists", reason: "IDEMPOTENCY_KEY_REUSED" });
  });

  it("knows a request again that came through another protocol", async () => {
    const [first, ...others] = protocolsOf(server.url);
    const options = { key: caller.key, header: { "idempotency-key": "protocols" } };
    const metadata = { one: 1, two: { c: [true, null], b: "x" } };
    const stored = await first?.call("Store", { text: TEXT, namespace: "once", metadata }, options);
    const turned = { two: { b: "x", c: [true, null] }, one: 1 };
    for (const protocol of others) {
      const again = await protocol.call(
        "Store",
        { text: TEXT, namespace: "once", metadata: turned },
        options,
      );
      expect(again, protocol.name).toMatchObject({ code: "ok", body: { id: stored?.body.id } });
    }
  });
});

describe("bytes that are not UTF-8", () => {
  const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
  const field = ["body"];

  it.each(["/store", STORE_RPC])("are refused in JSON at %s", async (path) => {
    for (const body of [
      '{"text":"a","namespace":"caf\xe9"}',
      '{"text":"caf\xe9","namespace":"n"}',
      '{"text":"a","namespace":"n","metadata":{"a":"\xff"}}',
      '{"text":"a","namespace":"n","metadata":{"\xc0\x80":1}}',
    ]) {
      expect(await post(path, latin1(body)), body).toMatchObject({
        code: "invalid_argument",
        fields: field,
        message: expect.stringContaining("UTF-8"),
      });
      const zipped = new Uint8Array(gzipSync(latin1(body)));
      const outcome = await post(path, zipped, { "content-encoding": "gzip" });
      expect(outcome).toMatchObject({ code: "invalid_argument", fields: field });
    }
  });

  it.each(["caf%E9", "%ED%A0%80", "%C0%AF", "%FF"])("are refused in a path: %s", async (namespace) => {
    for (const method of ["GET", "DELETE"]) {
      const path = `/namespaces/${namespace}${method === "GET" ? "/memories/x" : ""}`;
      const answer = await fetch(server.url + path, { method, headers: authorized() });
      expect(await readJson(answer)).toMatchObject({ code: "invalid_argument", status: 400 });
    }
  });

  it("are refused in a path when they are not even percent-encoded", async () => {
    for (const name of ["caf\xe9", "caf\xc3\xa9"]) {
      const text = await exchange(
        server.port,
        Buffer.from(
          `DELETE /namespaces/${name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\nConnection: close\r\n\r\n`,
          "latin1",
        ),
      );
      expect(text).toMatch(/^HTTP\/1.1 400 [\s\S]*invalid_argument/);
      const session = connect(server.url);
      const stream = session.request({
        ":method": "DELETE",
        ":path": `/namespaces/${name}`,
        authorization: `Bearer ${caller.key}`,
      });
      let answer = "";
      for await (const chunk of stream) answer += chunk;
      session.close();
      expect(answer).toMatch(/"code":"invalid_argument"/);
    }
  });

  it("are refused in a query", async () => {
    for (const query of ["force=%FF", "%FF=true", "force=%"]) {
      const answer = await fetch(`${server.url}/namespaces/n?${query}`, {
        method: "DELETE",
        headers: authorized(),
      });
      expect(await readJson(answer), query).toMatchObject({ code: "invalid_argument", status: 400 });
    }
  });
});

describe("JSON that says more than it seems to", () => {
  it.each([
    ['{"text":"a","namespace":"n","namespace":"m"}', "namespace"],
    ['{"text":"a","namespace":"n","name\\u0073pace":"m"}', "namespace"],
    ['{"text":"a","namespace":"n","metadata":{"a":1,"a":1}}', "metadata.a"],
    ['{"text":"a","namespace":"n","metadata":{"b":[{"\\"a\\\\":1,"\\"a\\\\":1}]}}', "metadata.b[0].?a?"],
    ['{"text":"a","namespace":"n","metadata":{"a":9007199254740993}}', "metadata.a"],
    ['{"text":"a","namespace":"n","metadata":{"a":[-18446744073709551615]}}', "metadata.a[0]"],
    ['{"text":"a","namespace":"n","metadata":{"a":-0}}', "metadata.a"],
    ['{"text":"a","namespace":"n","metadata":{"a":-0.0}}', "metadata.a"],
    ['{"text":"a","namespace":"n","metadata":{"a":-0e5}}', "metadata.a"],
  ])("is refused, and the field named: %s", async (body, name) => {
    for (const path of ["/store", STORE_RPC]) {
      expect(await post(path, body)).toMatchObject({ code: "invalid_argument", fields: [name] });
    }
  });

  it("is refused when a field comes under both its names", async () => {
    const outcome = await post("/recall", '{"query":"a","namespace":"n","top_k":3,"topK":5}');
    expect(outcome).toMatchObject({ code: "invalid_argument", fields: ["top_k"] });
  });

  it("is taken where nothing is lost", async () => {
    const metadata =
      '{"a":9007199254740992,"b":-9007199254740991,"c":1e300,"d":0.1,"e":100000000000000000000000,"f":"a\\"b","\\"":{},"g":[{},{"a":"\\\\"},{"a":0}]}';
    const stored = await post("/store", `{"text":"a","namespace":"kept","metadata":${metadata}}`);
    expect(stored.code).toBe("ok");
    const { body } = await caller.get("kept", String(stored.body.id));
    expect((body.memory as { metadata: unknown }).metadata).toEqual(JSON.parse(metadata));
  });

  it("is refused by every protocol: a zero with a sign", async () => {
    for (const protocol of protocolsOf(server.url).filter(({ json }) => !json)) {
      const request = { text: TEXT, namespace: "n" };
      const outcome = await protocol.call("Store", { ...request, metadata: { a: [0] } }, { key: caller.key });
      expect(outcome.code, protocol.name).toBe("ok");
    }
    expect(await grpc(STORE_RPC, envelope(storeWithMinusZero()))).toMatchObject({
      status: "3",
      message: expect.stringContaining("-0"),
    });
  });
});

/** Makes a Store whose metadata is {"a": -0.0}, written by hand. */
function storeWithMinusZero(): Uint8Array {
  const bytes = (no: number, value: Uint8Array) => Buffer.from([(no << 3) | 2, value.length, ...value]);
  const value = Buffer.from([0x11, 0, 0, 0, 0, 0, 0, 0, 0x80]);
  const entry = Buffer.concat([bytes(1, Buffer.from("a")), bytes(2, value)]);
  return Buffer.concat([bytes(1, Buffer.from(TEXT)), bytes(2, Buffer.from("n")), bytes(3, bytes(1, entry))]);
}

function envelope(message: Uint8Array, flags = 0): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

interface GrpcAnswer {
  readonly status: string;
  readonly message: string;
  readonly details: string;
  readonly header: Record<string, unknown>;
  /** Size of the body. */
  readonly bytes: number;
}

/** Makes one gRPC call of these bytes. */
async function grpc(
  path: string,
  body: Uint8Array,
  header: Record<string, string> = {},
): Promise<GrpcAnswer> {
  const session = connect(server.url);
  try {
    return await new Promise((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        authorization: `Bearer ${caller.key}`,
        "content-type": "application/grpc",
        te: "trailers",
        ...header,
      });
      let all: Record<string, unknown> = {};
      const add = (found: Record<string, unknown>) => {
        all = { ...all, ...found };
      };
      let bytes = 0;
      stream.on("response", add).on("trailers", add).on("error", reject);
      stream.on("data", (chunk) => {
        bytes += chunk.length;
      });
      stream.on("close", () => {
        const details = Buffer.from(String(all["grpc-status-details-bin"] ?? ""), "base64");
        resolve({
          status: String(all["grpc-status"]),
          message: decodeURIComponent(String(all["grpc-message"] ?? "")),
          details: details.toString("latin1"),
          header: all,
          bytes,
        });
      });
      stream.end(body);
    });
  } finally {
    session.close();
  }
}

describe("a call that does not reach its method", () => {
  const unknown = "/recalld.v1.MemoryService/recall";
  const cases: [string, string, Record<string, string>, string, RegExp][] = [
    ["no method", unknown, {}, "12", /did you mean POST \/recalld.v1.MemoryService\/Recall\?$/],
    ["no service", "/a.B/C", {}, "12", /^there is nothing at POST \/a.B\/C$/],
    ["a path of another method", "/namespaces", {}, "12", /^POST is not served here; use GET$/],
    ["a path that is not UTF-8", "/%ff", {}, "3", /^path is not percent-encoded UTF-8/],
    ["an expectation", STORE_RPC, { expect: "more" }, "3", /^of Expect only/],
    ["a charset", STORE_RPC, { "content-type": "application/grpc; charset=latin1" }, "3", /charset latin1/],
  ];

  it.each(cases)("is told of %s by gRPC's status alone", async (_, path, header, status, message) => {
    for (const type of ["application/grpc", "application/grpc+proto", "Application/gRPC-Web+proto"]) {
      const answer = await grpc(path, envelope(Buffer.from("")), { "content-type": type, ...header });
      expect(answer).toMatchObject({ status, message: expect.stringMatching(message) });
      expect(answer.header).toMatchObject({ ":status": 200 });
      expect(answer.bytes).toBe(0);
      expect(answer.header["content-type"]).toBe(
        (header["content-type"] ?? type).split(";")[0]?.toLowerCase(),
      );
      expect(answer.header["x-request-id"]).toBeDefined();
    }
  });

  it("is told by HTTP if it is no call", async () => {
    const { status } = await fetch(server.url + STORE_RPC, {
      headers: { "content-type": "application/grpc" },
    });
    expect(status).toBe(405);
  });
});

describe("malformed Protobuf", () => {
  const noise = Uint8Array.of(0x0a, 0xff, 0x01, 0x61);
  const unary = ["/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/List"];
  const streaming = [
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
  ];

  it.each([...unary, ...streaming])("is the caller's mistake at %s", async (path) => {
    const { status, message, details } = await grpc(path, envelope(noise));
    expect({ status, message }).toEqual({
      status: "3",
      message: expect.stringMatching(/^body is not a well-formed \w+/),
    });
    expect(details).toContain("google.rpc.BadRequest");
    const zipped = envelope(gzipSync(noise), 1);
    expect((await grpc(path, zipped, { "grpc-encoding": "gzip" })).status).toBe("3");
  });

  it.each(unary)("is the caller's mistake at %s over Connect", async (path) => {
    expect(await post(path, noise, { "content-type": "application/proto" })).toMatchObject({
      status: 400,
      code: "invalid_argument",
      fields: ["body"],
    });
    expect(await post(path, "nonsense")).toMatchObject({ code: "invalid_argument", fields: ["body"] });
  });

  it.each(streaming)("is the caller's mistake at %s over Connect's streams", async (path) => {
    const session = connect(server.url);
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/connect+proto",
    });
    stream.end(envelope(noise));
    let text = "";
    for await (const chunk of stream) text += chunk;
    session.close();
    expect(text).toMatch(/"code":"invalid_argument","message":"body is not/);
  });

  it("leaves the open calls as they are for everybody else", async () => {
    const message = toBinary(HealthCheckRequestSchema, {
      $typeName: "grpc.health.v1.HealthCheckRequest",
      service: "",
    });
    expect((await grpc("/grpc.health.v1.Health/Check", envelope(message))).status).toBe("0");
    expect((await grpc("/grpc.health.v1.Health/Check", envelope(message).subarray(0, 3))).status).toBe("3");
    const promise = Buffer.from([0, 0xff, 0xff, 0xff, 0xff]);
    expect(await grpc("/grpc.health.v1.Health/Watch", promise)).toMatchObject({
      status: "8",
      details: expect.stringContaining("BODY_TOO_LARGE"),
    });
  });
});

describe("gzip that is none", () => {
  it("names the body, by every protocol", async () => {
    for (const path of ["/store", STORE_RPC]) {
      expect(await post(path, "{}", { "content-encoding": "gzip" })).toMatchObject({
        code: "invalid_argument",
        fields: ["body"],
      });
    }
    const answer = await grpc(STORE_RPC, envelope(Buffer.from("{}"), 1), { "grpc-encoding": "gzip" });
    expect(answer).toMatchObject({ status: "3", details: expect.stringContaining("BadRequest") });
  });
});

describe("content types and encodings", () => {
  const body = JSON.stringify({ query: "cat", namespace: "n" });

  it.each([
    'application/json; charset="utf-8"',
    "application/json; charset=utf8",
    "application/json;charset=UTF-8; profile=x",
    'application/json; profile="a;b"',
    "application/json;",
  ])("takes %s", async (type) => {
    for (const path of ["/recall", "/recalld.v1.MemoryService/Recall"]) {
      expect(await post(path, body, { "content-type": type }), path).toMatchObject({ code: "ok" });
    }
  });

  it.each(["application/json; charset=latin1", 'application/json; charset="utf-16"'])(
    "refuses %s and says why",
    async (type) => {
      for (const path of ["/recall", "/recalld.v1.MemoryService/Recall"]) {
        expect(await post(path, body, { "content-type": type })).toMatchObject({
          status: 415,
          code: "invalid_argument",
          message: expect.stringMatching(/charset .* UTF-8/),
        });
      }
    },
  );

  it("takes parameters of the other types too", async () => {
    const answer = await grpc(STORE_RPC, envelope(Buffer.from("")), {
      "content-type": "application/grpc+proto; charset=utf-8",
    });
    expect(answer.status).toBe("3");
    const outcome = await post(STORE_RPC, new Uint8Array(), { "content-type": "application/proto; a=b" });
    expect(outcome).toMatchObject({ code: "invalid_argument", fields: ["text"] });
  });

  it.each(["GZIP", "Gzip", "x-gzip"])("takes Content-Encoding: %s", async (encoding) => {
    const zipped = new Uint8Array(gzipSync(body));
    expect(await post("/recall", zipped, { "content-encoding": encoding })).toMatchObject({ code: "ok" });
  });

  it("takes Content-Encoding: identity", async () => {
    expect(await post("/recall", body, { "content-encoding": "Identity" })).toMatchObject({ code: "ok" });
  });
});

describe("what may be kept", () => {
  it("is no answer of the API, and no error", async () => {
    const asks: [string, RequestInit][] = [
      ["/signup", { method: "POST", body: "{}" }],
      ["/store", { method: "POST", body: "{}" }],
      [STORE_RPC, { method: "POST", body: "{}", headers: { authorization: "Bearer x" } }],
      ["/recalld.v1.AccountService/GetAccount", { method: "POST", body: "{}" }],
      ["/namespaces/n", { method: "DELETE" }],
      ["/nothing", {}],
      ["/store", { method: "PUT" }],
      ["/livez", {}],
      ["/readyz", {}],
      ["/%", {}],
    ];
    for (const [path, init] of asks) {
      const answer = await fetch(server.url + path, { ...init, headers: authorized(init.headers as never) });
      await answer.text();
      expect(answer.headers.get("cache-control"), path).toBe("no-store");
    }
    expect((await grpc(STORE_RPC, envelope(Buffer.from("")))).header["cache-control"]).toBe("no-store");
    const unreadable = await exchange(server.port, "nonsense\r\n\r\n");
    expect(unreadable).toMatch(/^Cache-Control: no-store\r$/im);
  });
});

describe("a query where none belongs", () => {
  it("is refused by name on a resource path", async () => {
    const { body } = await caller.store({ text: TEXT, namespace: "query" });
    const at = `/namespaces/query/memories/${body.id}`;
    for (const [path, name] of [
      [`${at}?namespace=other`, "namespace"],
      [`${at}?id=mem_1`, "id"],
      [`${at}?verbose=1`, "verbose"],
      ["/namespaces/query?force=true&force=false", "force"],
      ["/namespaces/query?force=yes", "force"],
      ["/namespaces/query?__proto__=1", "__proto__"],
    ] as const) {
      for (const method of path.startsWith(at) ? ["GET", "DELETE"] : ["DELETE"]) {
        const answer = await fetch(server.url + path, { method, headers: authorized() });
        expect(await readJson(answer), path).toMatchObject({ code: "invalid_argument", fields: [name] });
      }
    }
    expect((await caller.get("query", String(body.id))).code).toBe("ok");
  });

  it("is refused by name on a plain path", async () => {
    const body = JSON.stringify({ text: TEXT, namespace: "query" });
    for (const name of ["namespace", "api_key"]) {
      expect(await post(`/store?${name}=x`, body)).toMatchObject({
        code: "invalid_argument",
        fields: [name],
      });
    }
  });

  it("holds no key", async () => {
    for (const name of ["key", "api_key", "authorization", "access_token", "x-api-key"]) {
      const path = `/recalld.v1.AccountService/GetAccount?encoding=json&message=%7B%7D&${name}=${caller.key}`;
      expect((await fetch(server.url + path)).status).toBe(401);
    }
  });
});

it("no error repeats a key that stands in a path, a field's name or a mask", async () => {
  const { key } = caller;
  const update = "/recalld.v1.MemoryService/UpdateMemory";
  const answers = await Promise.all([
    fetch(`${server.url}/${key}/mcp`),
    ...[{ [key]: 1 }, { namespace: "n", id: ID, update_mask: key }].map((body) =>
      fetch(server.url + update, { method: "POST", headers: authorized(), body: JSON.stringify(body) }),
    ),
  ]);
  for (const answer of answers) {
    const text = await answer.text();
    expect(text).toMatch(/^\{"code":"(not_found|invalid_argument)".*rcl_…/);
    expect(text).not.toContain(key);
  }
});

describe("a refusal for size or number says which by its reason", () => {
  it("when the body is too large, by every protocol", async () => {
    const large = { text: "x".repeat(BODY_BYTES_MAX), namespace: "n" };
    for (const protocol of protocolsOf(server.url)) {
      const outcome = await protocol.call("Store", large, { key: caller.key });
      expect(outcome, protocol.name).toMatchObject({
        code: "resource_exhausted",
        message: "the body is larger than 1,048,576 bytes",
        reason: "BODY_TOO_LARGE",
      });
    }
  });

  it("when a message only promises to be too large", async () => {
    for (const flags of [0, 1]) {
      const promise = Buffer.concat([Uint8Array.of(flags, 0xff, 0xff, 0xff, 0xff), Buffer.from("abc")]);
      const header = { "grpc-encoding": flags === 1 ? "gzip" : "identity" };
      expect(await grpc(STORE_RPC, promise, header)).toMatchObject({
        status: "8",
        details: expect.stringContaining("BODY_TOO_LARGE"),
      });
    }
  });
});
