import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { sharedServer, startServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const PATHS = [
  ...["/store", "/signup", "/livez", "/openapi.json", "/namespaces/n", "/nowhere"],
  "/recalld.v1.MemoryService/Recall",
];
const OURS = "https://app.example.org";

let closed: TestServer;
let listed: TestServer;
let open: TestServer;
beforeAll(async () => {
  [closed, listed, open] = await Promise.all([
    sharedServer(),
    startServer({ env: { CORS_ORIGINS: `${OURS}, http://localhost:5173` } }),
    startServer({ env: { CORS_ORIGINS: "*" } }),
  ]);
});
afterAll(() => Promise.all([listed.stop(), open.stop()]));

function preflight(url: string, origin: string): Promise<Response> {
  const headers = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
  };
  return fetch(url, { method: "OPTIONS", headers });
}

const allowed = ({ headers }: Response) => headers.get("access-control-allow-origin");

describe.each(PATHS)("%s", (path) => {
  it("is closed to other pages", async () => {
    for (const answer of [
      await preflight(closed.url + path, OURS),
      await fetch(closed.url + path, { method: "POST", headers: { origin: OURS } }),
    ]) {
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  it("is open to the listed origins, and to no other", async () => {
    const answer = await preflight(listed.url + path, OURS);
    expect(answer.status).toBe(204);
    expect(allowed(answer)).toBe(OURS);
    expect(answer.headers.get("vary")).toMatch(/\borigin\b/i);
    expect(answer.headers.get("access-control-allow-methods")).toContain("DELETE");
    const headers = answer.headers.get("access-control-allow-headers")?.toLowerCase();
    for (const name of [
      "authorization",
      "content-type",
      "connect-protocol-version",
      "x-grpc-web",
      "grpc-timeout",
      "last-event-id",
    ]) {
      expect(headers).toContain(name);
    }
    for (const origin of ["https://evil.example", "https://app.example.org.evil.example", "null"]) {
      const refused = await preflight(listed.url + path, origin);
      expect(allowed(refused)).toBe(null);
      expect(refused.headers.get("vary")).toMatch(/\borigin\b/i);
    }
  });

  it("is open to all with *, and never with credentials", async () => {
    const answer = await preflight(open.url + path, "https://anyone.example");
    expect(allowed(answer)).toBe("*");
    expect(answer.headers.get("access-control-allow-credentials")).toBe(null);
  });
});

it("answers and errors can be read, with the headers that Connect and gRPC-Web need", async () => {
  const headers = { origin: OURS, "content-type": "application/json" };
  for (const path of ["/signup", "/recall"]) {
    const answer = await fetch(listed.url + path, { method: "POST", headers, body: "{}" });
    expect(allowed(answer)).toBe(OURS);
    const exposed = answer.headers.get("access-control-expose-headers");
    for (const name of ["Grpc-Status", "Grpc-Message", "X-Request-ID", "Retry-After"])
      expect(exposed).toContain(name);
  }
});

it.each([
  ["Connect", createConnectTransport],
  ["gRPC-Web", createGrpcWebTransport],
])("%s of a browser works from another origin", async (_, create) => {
  // Like the browser, this adds the origin and hides what is not allowed.
  const asBrowser: typeof fetch = async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    expect(allowed(await preflight(url, OURS))).toBe(OURS);
    const answer = await fetch(input, {
      ...init,
      headers: [...new Headers(init?.headers), ["origin", OURS]],
    });
    expect(allowed(answer)).toBe(OURS);
    return answer;
  };
  const client = createClient(AccountService, create({ baseUrl: listed.url, fetch: asBrowser }));
  expect((await client.signUp({})).plan).toBe("free");
});
