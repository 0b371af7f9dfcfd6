import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:http2";
import { json } from "node:stream/consumers";
import { beforeAll, expect, it } from "vitest";
import { exchange } from "../support/raw.js";
import { sharedServer, type TestServer } from "../support/server.js";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await sharedServer();
  key = (await answerOf<{ api_key: string }>(await post("/signup", {}))).api_key;
}, 60_000);

const KEY_ID = "key_01kafz3v2wes8vptq3jbm5yr4x";

const post = (path: string, body: object) =>
  fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });

const answerOf = async <T>(response: Response) => (await response.json()) as T;

it("says at the top level of an error what it is about, and where to read on", async () => {
  const few = await post("/namespaces/n/memories/get", { ids: ["mem_1"] });
  const about = (response: Response, code: string) => ({
    request_id: response.headers.get("x-request-id"),
    docs_url: `${server.url}/docs/errors#${code}`,
  });
  expect(await few.json()).toMatchObject({ field: "ids[0]", ...about(few, "invalid-argument") });
  const last = await fetch(`${server.url}/keys/${KEY_ID}`, { method: "DELETE" });
  expect(await last.json()).toMatchObject(about(last, "unauthenticated"));
  const large = await post("/recall", { query: "x".repeat(1_048_577) });
  expect(await large.json()).toMatchObject({
    reason: "BODY_TOO_LARGE",
    ...about(large, "resource-exhausted"),
  });
  const nowhere = await post("/nowhere", {});
  expect(await nowhere.json()).toMatchObject(about(nowhere, "not-found"));
});

it.each([
  ["/tools/memory", "/tools/memory"],
  ["/memory/", "/memory"],
  ["https://evil.example", ""],
  ["//evil.example", ""],
])("leads below the path %s, which a proxy tells, to the docs at %j", async (told, path) => {
  const nowhere = await fetch(`${server.url}/nowhere`, { headers: { "x-forwarded-prefix": told } });
  expect(await nowhere.json()).toMatchObject({ docs_url: `${server.url}${path}/docs/errors#not-found` });
});

it.each(["get", "count", "delete"])(
  "refuses a body of /memories/%s that names the path's field",
  async (at) => {
    const response = await post(`/namespaces/n/memories/${at}`, { namespace: "n" });
    expect(await response.json()).toMatchObject({ code: "invalid_argument", field: "namespace" });
  },
);

it.each([
  ["PUT", "/namespaces/a/memories/b", "GET, DELETE"],
  ["POST", "/namespaces/a", "DELETE, GET"],
  ["POST", "/namespaces", "GET"],
  ["PUT", "/namespaces/a/memories", "GET"],
  ["POST", "/account", "GET, DELETE"],
  ["DELETE", "/usage", "GET"],
  ["POST", "/calls", "GET"],
  ["PATCH", "/keys", "GET, POST"],
  ["POST", "/livez", "GET"],
  ["DELETE", "/readyz", "GET"],
])("answers %s %s with 405 and what is allowed", async (method, path, allow) => {
  const response = await fetch(server.url + path, { method });
  expect(response.status).toBe(405);
  for (const each of allow.split(", ")) expect(response.headers.get("allow")).toContain(each);
  expect(await response.json()).toMatchObject({
    code: "unimplemented",
    message: expect.stringContaining(method),
    ...{
      request_id: response.headers.get("x-request-id"),
      docs_url: `${server.url}/docs/errors#unimplemented`,
    },
  });
});

it("refuses a method that there is not by HTTP/2, as Node does by HTTP/1, before Fastify logs a fault", async () => {
  const client = connect(server.url);
  const answers = ["NOSUCH", "GET"].map(async (method) => {
    const sent = client.request({ ":method": method, ":path": "/store" });
    const [head] = await once(sent, "response");
    return [head[":status"], typeof head["x-request-id"], (await json(sent)) as object];
  });
  expect(await Promise.all(answers)).toMatchObject([
    [501, "string", { code: "unimplemented" }],
    [405, "string", { code: "unimplemented" }],
  ]);
  client.close();
});

it.each([
  ["/livez", "GET"],
  ["/namespaces/a", "DELETE"],
  ["/namespaces/a/memories/b", "GET, DELETE"],
  ["/recalld.v1.MemoryService/Store", "POST"],
])("answers methods that are seldom used at %s with 405 and what is allowed", async (path, allow) => {
  for (const method of ["OPTIONS", "TRACE", "QUERY"]) {
    // This is written by hand, because fetch sends no TRACE.
    const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(server.port, head);
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    expect(/^allow: (.*)\r$/im.exec(answer)?.[1]?.split(", ")).toEqual(
      expect.arrayContaining(allow.split(", ")),
    );
    expect(answer).toMatch(/"code":"unimplemented"/);
  }
});

it.each([
  ["POST", "/v1/store", "POST /store"],
  ["POST", "/api/v1/recall", "POST /recall"],
  ["GET", "/Namespace/a/memory/b", undefined],
  ["GET", "/v1/namespaces/a%20b/memories?page_size=3", "GET /namespaces/{namespace}/memories"],
  ["DELETE", "/namespace/a", "DELETE /namespaces/{namespace}"],
  ["POST", "/usages", "GET /usage"],
  ["POST", "/recalld.v1.MemoryService/recall", "POST /recalld.v1.MemoryService/Recall"],
  ["POST", `/v1/store${"/".repeat(15_000)}`, undefined],
  ["POST", `/${"store".repeat(3_000)}`, undefined],
])("answers %s %s with 404 and what was meant", async (method, path, meant) => {
  const response = await fetch(server.url + path, { method });
  expect(response.status).toBe(404);
  const at = `there is nothing at ${method} ${path.split("?")[0]?.slice(0, 256)}`;
  const message = meant === undefined ? at : `${at}; did you mean ${meant}?`;
  expect(await response.json()).toMatchObject({ code: "not_found", message });
});

it("deletes for a client that says JSON and sends nothing", async () => {
  const { id } = await answerOf<{ id: string }>(await post("/store", { namespace: "n", text: "soon gone" }));
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const response = await fetch(`${server.url}/namespaces/n/memories/${id}`, { method: "DELETE", headers });
  expect(await response.json()).toEqual({ id });
});

it("says in the common shape that headers are too large", async () => {
  const { status, body } = await new Promise<{ status: number | undefined; body: string }>(
    (resolve, reject) => {
      const call = request(
        `${server.url}/livez`,
        { headers: { "x-large": "x".repeat(20_000) } },
        (response) => {
          let body = "";
          response.on("data", (chunk) => {
            body += chunk;
          });
          response.on("end", () => resolve({ status: response.statusCode, body }));
        },
      );
      call.on("error", reject).end();
    },
  );
  expect(status).toBe(431);
  expect(JSON.parse(body)).toEqual({
    code: "resource_exhausted",
    message: expect.stringContaining("16,384"),
  });
});

it("names the reason when a promised body is too large", async () => {
  const response = await fetch(`${server.url}/store`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: "x".repeat(1_048_577),
  });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({
    code: "resource_exhausted",
    details: [{ debug: { reason: "BODY_TOO_LARGE" } }],
  });
});

it("says of a filter in a query that it is no JSON, and how deep metadata may be", async () => {
  const list = async (filter: string) => {
    const answer = await fetch(`${server.url}/namespaces/n/memories?filter=${encodeURIComponent(filter)}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return (await answerOf<{ message: string }>(answer)).message;
  };
  expect(await list('{"a":')).toBe("filter is not JSON; send a JSON object");
  expect(await list("null")).toBe("filter is a string; send a JSON object");
  let metadata = {};
  for (let level = 1; level < 100; level++) metadata = { metadata };
  const deep = await post("/store", { namespace: "n", text: "tea", metadata });
  expect(await deep.json()).toMatchObject({ message: "metadata is more than 16 levels deep" });
});

it.each([
  ["/account", 400, "account_id is missing"],
  ["/namespaces/unread", 400, "the namespace holds 1 memory; set force to drop it"],
])("says of a DELETE that fails that its body is not read: %s", async (path, status, message) => {
  const once = { external_id: "cello", on_conflict: "KEEP" };
  await post("/store", { namespace: "unread", text: "Ana plays the cello.", ...once });
  const del = async (body: string | null) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== null && { "content-type": "application/json" }),
    };
    const answer = await fetch(server.url + path, { method: "DELETE", headers, body });
    return { ...(await answerOf<{ message: string; field?: string }>(answer)), status: answer.status };
  };
  const plain = await del(null);
  expect(plain).toMatchObject({ status, message });
  const hinted = await del('{"force": true, "account_id": "acc_1"}');
  expect([hinted.status, hinted.field]).toEqual([status, plain.field]);
  expect(hinted.message).toBe(
    `${plain.message}; the body of a DELETE is not read: send its fields in the query`,
  );
});

it.each(["If-Match", "If-None-Match", "If-Unmodified-Since"])(
  "changes nothing under a condition that it does not read, %s",
  async (name) => {
    const text = "Ana plays the cello.";
    const { id } = await answerOf<{ id: string }>(await post("/store", { namespace: "conditions", text }));
    const path = `${server.url}/namespaces/conditions/memories/${id}`;
    const headers = { authorization: `Bearer ${key}`, [name]: "*" };
    for (const method of ["PATCH", "DELETE"]) {
      const own = method === "PATCH" ? { "content-type": "application/json" } : {};
      const body = method === "PATCH" ? '{"metadata":{"a":1}}' : null;
      const refused = await fetch(path, { method, headers: { ...headers, ...own }, body });
      expect(await refused.json()).toMatchObject({ code: "invalid_argument", field: name });
    }
    const read = await answerOf<{ memory: object }>(await fetch(path, { headers }));
    expect(read.memory).toMatchObject({ text, metadata: {} });
  },
);
