import { beforeAll, expect, it } from "vitest";
import { exchange } from "../support/raw.js";
import { sharedServer, type TestServer } from "../support/server.js";

let server: TestServer;
beforeAll(async () => {
  server = await sharedServer();
}, 60_000);

it.each([
  ["no host", "GET /livez HTTP/1.1\r\n", 400],
  ["two hosts", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400],
  ["an expectation of another kind", "GET /livez HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n", 417],
  ["a broken header", "GET /livez HTTP/1.1\r\nHost: a\r\nb\0d: 1\r\n", 400],
  ["headers that are too large", `GET /livez HTTP/1.1\r\nHost: a\r\nx: ${"a".repeat(20_000)}\r\n`, 431],
])("a request with %s is refused in words, with an id", async (_, head, status) => {
  const answer = await exchange(server.port, `${head}Connection: close\r\n\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/^x-request-id: [\w-]{36}\r$/im);
  expect(answer).toMatch(/\{"code":"\w+","message":"[^"]+"[,}]/);
  expect(answer).not.toContain("undefined");
});

it("a body that is longer than its Content-Length says is told so", async () => {
  const body = JSON.stringify({ text: "Größe, in Zeichen gezählt", namespace: "n" });
  const head = `POST /store HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  expect(await exchange(server.port, `${head}\r\n\r\n${body}`)).toMatch(/longer than its Content-Length/);
});
