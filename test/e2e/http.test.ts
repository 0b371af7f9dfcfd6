import { request as httpRequest } from "node:http";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { exchange, openRaw } from "../support/raw.js";
import { startServer, type TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// These tests cover faults that only HTTP can have. every-protocol.test.ts covers everything else over every protocol.

const STORE_RPC = "/recalld.v1.MemoryService/Store";
const JSON_TYPE = { "content-type": "application/json" };
const BODY_BYTES_MAX = 1_048_576;
const MEMORY = { text: "The cat sleeps on the radiator.", namespace: "n" };

let server: TestServer;
let caller: Caller;

beforeAll(async () => {
  server = await startServer();
  caller = await signUp(server.url);
});
afterAll(() => server.stop());

afterEach(async () => {
  // After anything that a test sends, other callers are still served.
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
});

const authorized = (header: Record<string, string> = {}) => ({
  authorization: `Bearer ${caller.key}`,
  ...header,
});

interface Answer {
  readonly status: number;
  readonly header: Headers;
  readonly body: { code?: string; message?: string; [key: string]: unknown };
}

async function ask(path: string, init: RequestInit & { duplex?: "half" } = {}): Promise<Answer> {
  const response = await fetch(server.url + path, init);
  const text = await response.text();
  return { status: response.status, header: response.headers, body: text === "" ? {} : JSON.parse(text) };
}

function expectError({ status, header, body }: Answer, expected: { status: number; code: string }): void {
  expect({ status, code: body.code }).toEqual(expected);
  expect(body.message).toMatch(/\w/);
  expect(header.get("content-type")).toMatch(/^application\/json/);
  expect(header.get("x-request-id")).toMatch(/^[\w-]{36}$/);
}

describe("paths and methods", () => {
  it.each([
    "/nothing",
    "/store//",
    "/Store",
    "//store",
    "/recalld.v1.MemoryService",
    "/recalld.v1.MemoryService/Nothing",
    "/namespace",
  ])("answers not_found at %s", async (path) => {
    const init = { method: "POST", headers: authorized(JSON_TYPE), body: "{}" };
    expectError(await ask(path, init), { status: 404, code: "not_found" });
  });

  it.each([
    ["/store", "POST"],
    ["/recall", "POST"],
    ["/signup", "POST"],
    [STORE_RPC, "POST"],
    ["/recalld.v1.AccountService/CloseAccount", "POST"],
    ["/recalld.v1.AccountService/GetAccount", "POST, GET"],
  ])("answers the wrong method at %s with the right one", async (path, allow) => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"].filter((each) => !allow.includes(each))) {
      const answer = await ask(path, { method, headers: authorized() });
      expectError(answer, { status: 405, code: "unimplemented" });
      expect(answer.header.get("allow")).toBe(allow);
    }
  });

  it("answers at a path with a slash at its end as without, whatever its query is", async () => {
    const post = (path: string, body: object) =>
      ask(path, { method: "POST", headers: authorized(JSON_TYPE), body: JSON.stringify(body) });
    const namespace = "slashes";
    expect((await post("/store/", { text: "Ada likes tea.", namespace })).status).toBe(200);
    expect((await post(`${STORE_RPC}/`, { text: "Bob likes milk.", namespace })).status).toBe(200);
    expect((await post("/recall/", { query: "Ada", namespace })).body.results).toHaveLength(2);
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    for (const path of ["/mcp/", "/mcp/?namespace=x/"]) expect((await post(path, ping)).status).toBe(200);
    const listed = await ask(`/namespaces/${namespace}/memories/?page_size=1`, { headers: authorized() });
    expect(listed.body.memories).toHaveLength(1);
    const wrong = await ask("/mcp/", { headers: authorized() });
    expect([wrong.status, wrong.header.get("allow")]).toEqual([405, "POST"]);
  });

  it("answers HEAD and OPTIONS without a fault", async () => {
    for (const path of ["/store", STORE_RPC, "/livez", "/nothing"]) {
      for (const method of ["HEAD", "OPTIONS"]) {
        const { status } = await fetch(server.url + path, { method, headers: authorized() });
        expect(status, `${method} ${path}`).toBeLessThan(500);
        expect(status, `${method} ${path}`).toBeGreaterThanOrEqual(200);
      }
    }
  });

  it("answers malformed percent-encoding as the caller's mistake", async () => {
    for (const path of ["/%", "/%zz", "/namespaces/%E0%A4%A/memories/x", "/namespaces/%/memories/x"]) {
      const text = await exchange(
        server.port,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\nConnection: close\r\n\r\n`,
      );
      expect(text, path).toMatch(/^HTTP\/1.1 (400|404) /);
      expect(text, path).toMatch(/\{"code":"(invalid_argument|not_found)","message":/);
      if (text.startsWith("HTTP/1.1 400 ")) expect(text, path).toContain('"field":"path"');
      expect(text, path).toMatch(/^x-request-id: [\w-]{36}\r$/im);
    }
  });

  it("says that it lives and that it is ready", async () => {
    expect(await ask("/livez")).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(await ask("/readyz")).toMatchObject({ status: 200, body: { status: "ready" } });
    for (const path of ["/livez", "/readyz", "/livez/"]) {
      const answer = await fetch(server.url + path, { method: "HEAD" });
      expect([answer.status, await answer.text()]).toEqual([200, ""]);
    }
  });
});

describe("content types", () => {
  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/xml",
    "nonsense",
    "application/json, application/json",
    "application/jsonx",
  ])("refuses %s on the plain paths and Connect's", async (type) => {
    for (const path of ["/store", "/recall", "/signup", STORE_RPC]) {
      const init = {
        method: "POST",
        headers: authorized({ "content-type": type }),
        body: JSON.stringify(MEMORY),
      };
      const answer = await ask(path, init);
      expectError(answer, { status: 415, code: "invalid_argument" });
      expect(answer.body.message).toBe(
        `content type ${type} is not served here; send Content-Type: application/json`,
      );
    }
  });

  it.each(["/store", STORE_RPC])("refuses a body of no type at %s", async (path) => {
    const body = JSON.stringify(MEMORY);
    const text = await exchange(
      server.port,
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    expect(text).toMatch(/^HTTP\/1.1 415 /);
    expect(text).toMatch(/"code":"invalid_argument"/);
  });

  it.each(["application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"])(
    "takes %s for JSON",
    async (type) => {
      const init = {
        method: "POST",
        headers: authorized({ "content-type": type }),
        body: JSON.stringify({ query: "cat", namespace: "n" }),
      };
      expect(await ask("/recall", init)).toMatchObject({ status: 200 });
    },
  );
});

describe("large bodies", () => {
  // The request is valid except for its size, so only the size can be wrong.
  const large = JSON.stringify({ ...MEMORY, metadata: { x: "x".repeat(BODY_BYTES_MAX) } });

  it.each(["/store", "/recall", "/signup"])("refuses more than 1 MiB at %s with 413", async (path) => {
    const init = { method: "POST", headers: authorized(JSON_TYPE), body: large };
    expectError(await ask(path, init), { status: 413, code: "resource_exhausted" });
  });

  it.each(["/store", "/recall", "/signup"])(
    "refuses more than 1 MiB at %s when it comes in chunks",
    async (path) => {
      expectError(await askChunked(path, large), { status: 413, code: "resource_exhausted" });
    },
  );

  it("refuses more than 1 MiB on Connect's paths with resource_exhausted", async () => {
    const init = { method: "POST", headers: authorized(JSON_TYPE), body: large };
    expectError(await ask(STORE_RPC, init), { status: 429, code: "resource_exhausted" });
    expectError(await askChunked(STORE_RPC, large), { status: 429, code: "resource_exhausted" });
  });

  it("takes 1 MiB to the byte", async () => {
    const json = JSON.stringify({ query: "cat", namespace: "n" });
    const body = json + " ".repeat(BODY_BYTES_MAX - json.length);
    const init = { method: "POST", headers: authorized(JSON_TYPE), body };
    expect(await ask("/recall", init)).toMatchObject({ status: 200 });
    expectError(await ask("/recall", { ...init, body: `${body} ` }), {
      status: 413,
      code: "resource_exhausted",
    });
  });

  it("are not read from strangers, who get their answer all the same", async () => {
    const types = ["application/json", "application/proto", "application/grpc-web+proto"];
    for (const type of types) {
      for (const bytes of [2, BODY_BYTES_MAX, 50 * BODY_BYTES_MAX]) {
        const init = { method: "POST", headers: { "content-type": type }, body: new Uint8Array(bytes) };
        const response = await fetch(server.url + STORE_RPC, init);
        const status = response.headers.get("grpc-status") ?? response.status;
        const text = await response.text();
        expect(text.includes("grpc-status: 16") ? "16" : status, `${type}, ${bytes}`).toBeOneOf([401, "16"]);
      }
    }
  });

  it("believes no Content-Length that promises more than comes", async () => {
    const connection = openRaw(server.port);
    connection.write(
      `POST /store HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\n\r\n{}`,
    );
    expect(await connection.received(/"message"/)).toMatch(/^HTTP\/1.1 413 /);
    connection.close();
  });
});

describe("gzip", () => {
  const gzipped = (body: unknown, accept = "identity") => ({
    method: "POST",
    headers: authorized({ ...JSON_TYPE, "content-encoding": "gzip", "accept-encoding": accept }),
    body: new Uint8Array(gzipSync(JSON.stringify(body))),
  });

  it("reads a request that is gzip", async () => {
    for (const path of ["/store", STORE_RPC]) {
      expect(await ask(path, gzipped({ ...MEMORY, namespace: "gzip" }))).toMatchObject({
        status: 200,
        body: { namespace: "gzip" },
      });
    }
  });

  it("writes an answer that is gzip to who asks for it", async () => {
    const text = `${"The same words again and again. ".repeat(100)}`;
    await caller.store({ text: "cat", namespace: "zip", metadata: { text } });
    const { status, header, bytes } = await askRaw("/recall", { query: "cat", namespace: "zip" });
    expect(status).toBe(200);
    expect(header["content-encoding"]).toBe("gzip");
    expect(bytes.length).toBeLessThan(text.length / 2);
    expect(JSON.parse(gunzipSync(bytes).toString()).results[0].metadata).toEqual({ text });
  });

  it("refuses a body that only claims to be gzip", async () => {
    for (const path of ["/store", STORE_RPC]) {
      const init = { ...gzipped({}), body: JSON.stringify(MEMORY) };
      expectError(await ask(path, init), { status: 400, code: "invalid_argument" });
    }
  });

  it("refuses an encoding it does not know", async () => {
    const init = { ...gzipped({}), headers: authorized({ ...JSON_TYPE, "content-encoding": "zstd" }) };
    const answer = await ask("/store", init);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(502);
    expect(answer.body.code).toMatch(/unimplemented|invalid_argument/);
  });

  it("refuses a gzip bomb, quickly and in little memory", async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(256 * BODY_BYTES_MAX, " ")));
    expect(bomb.length).toBeLessThan(BODY_BYTES_MAX);
    const begunMs = performance.now();
    const plain = await ask("/store", { ...gzipped({}), body: bomb });
    expectError(plain, { status: 413, code: "resource_exhausted" });
    expectError(await ask(STORE_RPC, { ...gzipped({}), body: bomb }), {
      status: 429,
      code: "resource_exhausted",
    });
    const proto = { ...gzipped({}).headers, "content-type": "application/proto" };
    expectError(await ask(STORE_RPC, { ...gzipped({}), headers: proto, body: bomb }), {
      status: 429,
      code: "resource_exhausted",
    });
    expect(performance.now() - begunMs).toBeLessThan(5000);
  });
});

describe("odd clients", () => {
  it("answers HTTP/1.0 without a Host", async () => {
    expect(await exchange(server.port, "GET /livez HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1.1 200 [\s\S]*"ok"/);
    const body = JSON.stringify({ query: "cat", namespace: "n" });
    const text = await exchange(
      server.port,
      `POST /recall HTTP/1.0\r\nAuthorization: Bearer ${caller.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(text).toMatch(/^HTTP\/1.1 200 [\s\S]*"results"/);
  });

  it("answers a Host that is none", async () => {
    for (const host of ["[", "a b", "x:99999"]) {
      const request = `POST /signup HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
      expect(await exchange(server.port, request)).toMatch(/^HTTP\/1.1 (200 [\s\S]*"api_key"|400 )/);
    }
  });

  it("refuses HTTP/1.1 without a Host", async () => {
    expect(await exchange(server.port, "GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n")).toMatch(
      /^HTTP\/1.1 400 /,
    );
  });

  it("refuses more than 16 KiB of headers", async () => {
    const text = await exchange(
      server.port,
      `GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(17_000)}\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1.1 431 /);
  });

  it.each([
    ["nonsense", "nonsense\r\n\r\n"],
    ["a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["two lengths", "POST /store HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"],
    [
      "a length and chunks",
      "POST /store HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a broken chunk", "POST /signup HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"],
    ["a NUL in a header", "GET /livez HTTP/1.1\r\nHost: x\r\nX-A: a\x00b\r\n\r\n"],
  ])("closes on %s", async (_, request) => {
    expect(await exchange(server.port, request)).toMatch(/^(HTTP\/1.1 400 |$)/);
  });

  it("serves others while half a request waits for its end", async () => {
    const halves = [
      "POST /store HTT",
      "POST /store HTTP/1.1\r\nHost: x\r\nContent-Ty",
      `POST /store HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"text"`,
      "PRI * HTTP/2.0\r\n\r\nSM",
    ].map((half) => {
      const connection = openRaw(server.port);
      connection.write(half);
      return connection;
    });
    expect((await caller.recall("cat", "n")).code).toBe("ok");
    for (const connection of halves) connection.close();
    expect((await caller.recall("cat", "n")).code).toBe("ok");
  });

  it("answers pipelined requests, each with its own, in their order", async () => {
    const connection = openRaw(server.port);
    const ids = Array.from({ length: 20 }, (_, i) => `pipe-${i}`);
    const body = JSON.stringify({ query: "cat", namespace: "n" });
    const request = (id: string, i: number) =>
      i % 2 === 0
        ? `GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-ID: ${id}\r\n\r\n`
        : `POST /recall HTTP/1.1\r\nHost: x\r\nX-Request-ID: ${id}\r\nAuthorization: Bearer ${caller.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    connection.write(ids.map(request).join(""));
    const text = await connection.received(/pipe-19\r\n[\s\S]*"query_tokens"/);
    expect([...text.matchAll(/^x-request-id: (\S+)\r$/gim)].map(([, id]) => id)).toEqual(ids);
    expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(ids.length);
    connection.close();
  });

  it("survives clients that go away in the middle of their calls", async () => {
    for (let i = 0; i < 20; i++) {
      const stop = new AbortController();
      const body = JSON.stringify({ query: `cat ${i} ${"and dog ".repeat(50)}`, namespace: "n" });
      const call = ask("/recall", {
        method: "POST",
        headers: authorized(JSON_TYPE),
        body,
        signal: stop.signal,
      });
      setTimeout(() => stop.abort(), i);
      await call.catch(() => {});
    }
    expect((await caller.recall("cat", "n")).code).toBe("ok");
  });
});

it("charged for what was answered, and for nothing that was refused", async () => {
  // A call that its client left may have begun already, and then costs one call.
  const [answered, left] = [ended("ok"), ended("canceled")];
  const used = await caller.used();
  expect(used).toBeGreaterThanOrEqual(answered);
  expect(used).toBeLessThanOrEqual(answered + left);
});

/** Counts stores and recalls with this code in the server's log. */
function ended(code: string): number {
  const calls =
    server
      .output()
      .match(/^\{.*"msg":"call"\}$/gm)
      ?.map((line) => JSON.parse(line)) ?? [];
  return calls.filter((call) => /\/(Store|Recall)$/.test(call.method) && call.code === code).length;
}

/** Asks with chunks in place of a Content-Length. */
function askChunked(path: string, text: string): Promise<Answer> {
  const body = new ReadableStream({
    start(controller) {
      for (let at = 0; at < text.length; at += 65_536) {
        controller.enqueue(Buffer.from(text.slice(at, at + 65_536)));
      }
      controller.close();
    },
  });
  return ask(path, { method: "POST", headers: authorized(JSON_TYPE), body, duplex: "half" });
}

/** Asks without fetch, which would decompress the answer. */
function askRaw(path: string, body: unknown) {
  return new Promise<{ status: number; header: Record<string, unknown>; bytes: Buffer }>(
    (resolve, reject) => {
      const headers = authorized({ ...JSON_TYPE, "accept-encoding": "gzip" });
      const request = httpRequest(server.url + path, { method: "POST", headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            header: response.headers,
            bytes: Buffer.concat(chunks),
          }),
        );
      });
      request.on("error", reject).end(JSON.stringify(body));
    },
  );
}
