import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { expect, it, onTestFinished, vi } from "vitest";
import { signUp } from "../support/caller.js";
import { ISSUER } from "../support/oauth.js";
import { startServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

/** Time after which a flood that nothing ends counts as not ended. */
const FLOOD_MS_MAX = 40_000;

async function started(): Promise<TestServer> {
  const server = await startServer({ env: { PUBLIC_URL: ISSUER } });
  onTestFinished(() => server.kill());
  return server;
}

function dial(url: string): ClientHttp2Session {
  const session = connectHttp2(url);
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Asks for a path, and returns the status and headers, or undefined if the connection was ended instead. */
async function ask(session: ClientHttp2Session, path: string, headers = {}) {
  if (session.destroyed || session.closed) return undefined;
  const stream = session.request({ ":path": path, ...headers }, { endStream: true });
  const closed = once(stream, "close").catch(() => []);
  const [answer] = await Promise.race([once(stream, "response").catch(() => []), closed]);
  return answer as { ":status": number; "retry-after"?: string } | undefined;
}

/** Asks again and again, faster than it may on any machine that is not stuck, until a connection is ended. */
async function flood(url: string, { path, headers = {} }: { path: string; headers?: object }) {
  const statuses: (number | undefined)[] = [];
  let session = dial(url);
  let retryAfter: string | undefined;
  for (const endsMs = Date.now() + FLOOD_MS_MAX; !statuses.includes(undefined) && Date.now() < endsMs; ) {
    if (session.destroyed || session.closed) session = dial(url);
    for (const answer of await Promise.all(Array.from({ length: 50 }, () => ask(session, path, headers)))) {
      statuses.push(answer?.[":status"]);
      if (answer?.[":status"] === 429) retryAfter = answer["retry-after"];
    }
  }
  return { statuses, retryAfter };
}

const FORM = {
  authorization: "Bearer rck_none",
  "content-type": "application/x-www-form-urlencoded",
};

const KINDS = [
  ["unknown paths", "/nothing", {}],
  ["unknown paths with a key that is none", "/nothing", { authorization: "Bearer rck_none" }],
  ["pages", "/", {}],
  ["health", "/grpc.health.v1.Health/Check", { authorization: "Bearer rck_none" }],
  ["looks for a session with a key that is none", "/session", { authorization: "Bearer rck_none" }],
  ["exchanges of codes", "/token", { ":method": "POST", ...FORM }],
] as const;

it.each(KINDS)("a flood of %s is refused, and neither keys nor probes are", async (_, path, headers) => {
  const server = await started();
  const ana = await signUp(server.url);
  await ana.store({ namespace: "n", text: "hello" });
  const { statuses, retryAfter } = await flood(server.url, { path, headers });
  expect(statuses).toContain(429);
  expect(retryAfter).toBe("1");
  // Who is refused, and goes on, loses its connection.
  expect(statuses).toContain(undefined);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect((await ana.recall("hello", "n")).code).toBe("ok");
});

it.each([
  ["a wrong type", "/store", { "content-type": "text/plain" }],
  ["a wrong type of Connect's", "/recalld.v1.MemoryService/Store", { "content-type": "text/plain" }],
])("a flood of calls of %s, whose key nobody looks at, loses its connection", async (_, path, headers) => {
  const server = await started();
  const { statuses } = await flood(server.url, {
    path,
    headers: { ":method": "POST", authorization: "Bearer rck_none", ...headers },
  });
  expect(statuses).toContain(415);
  expect(statuses).toContain(undefined);
});

it("a flood of probes is refused, but not another connection's first, nor a page", async () => {
  const server = await started();
  const { statuses } = await flood(server.url, { path: "/livez" });
  expect(statuses).toContain(429);
  expect(await ask(dial(server.url), "/livez")).toMatchObject({ ":status": 200 });
  expect(await ask(dial(server.url), "/nothing")).toMatchObject({ ":status": 404 });
});
