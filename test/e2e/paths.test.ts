import { request } from "node:http";
import { beforeAll, expect, it } from "vitest";
import { exchange } from "../support/raw.js";
import { sharedServer, type TestServer } from "../support/server.js";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await sharedServer();
  key = (await answerOf<{ api_key: string }>(await post("/signup", {}))).api_key;
}, 60_000);

const post = (path: string, body: object) =>
  fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });

const answerOf = async <T>(response: Response) => (await response.json()) as T;

it.each([
  ["PUT", "/namespaces/a/memories/b", "GET, DELETE"],
  ["POST", "/namespaces/a", "DELETE, GET"],
  ["POST", "/namespaces", "GET"],
  ["PUT", "/namespaces/a/memories", "GET"],
  ["POST", "/account", "GET"],
  ["DELETE", "/usage", "GET"],
  ["POST", "/calls", "GET"],
  ["PATCH", "/keys", "GET"],
  ["POST", "/livez", "GET"],
  ["DELETE", "/readyz", "GET"],
])("answers %s %s with 405 and what is allowed", async (method, path, allow) => {
  const response = await fetch(server.url + path, { method });
  expect(response.status).toBe(405);
  for (const each of allow.split(", ")) expect(response.headers.get("allow")).toContain(each);
  expect(await response.json()).toEqual({ code: "unimplemented", message: expect.stringContaining(method) });
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
