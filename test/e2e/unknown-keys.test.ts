import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeSession, newSecret } from "../../src/accounts/key.js";
import { signUp } from "../support/caller.js";
import { type Outcome, type Protocol, protocolsOf, type RpcName, readJson } from "../support/protocols.js";
import { startServer, type TestServer } from "../support/server.js";
import { FROM_PORTAL, openBrowserSession } from "../support/sessions.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Unknown keys that an address may show at once. It gets one more a second, also while this test runs. */
const BURST = 100;
const REGAINED_MAX = 59;

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.0/8" } });
  ({ key } = await signUp(server.url));
  // From now on the key is in the server's memory.
  expect((await (protocolsOf(server.url)[0] as Protocol).call("GetAccount", {}, { key })).code).toBe("ok");
});
afterAll(() => server.stop());

/** Sends a key, or what stands for one, as from an address. */
type Send = (secret: string, address: string) => Promise<Outcome>;

const byRpc =
  (protocol: number, rpc: RpcName, request = {}): Send =>
  (secret, address) =>
    (protocolsOf(server.url)[protocol] as Protocol).call(rpc, request, {
      key: secret,
      header: { "x-forwarded-for": address },
    });

const byPath =
  (method: string, path: string, body?: object): Send =>
  async (secret, address) => {
    const leaving = new AbortController();
    const response = await fetch(server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        "x-forwarded-for": address,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: leaving.signal,
    });
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    if (isJson) return readJson(response);
    leaving.abort();
    return { code: "ok", message: "", fields: [], reason: undefined, body: {}, header: response.headers };
  };

const QUESTION = { namespace: "n", query: "a" };
const WAYS: Readonly<Record<string, Send>> = {
  ...Object.fromEntries(
    protocolsOf("http://127.0.0.1:1").map(({ name }, n) => [`${name}, Recall`, byRpc(n, "Recall", QUESTION)]),
  ),
  "a resource's path": byPath("GET", "/account"),
  "a watch": byPath("GET", "/namespaces/n/events"),
  "an export": byPath("GET", "/namespaces/n/export"),
  MCP: byPath("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }),
  "a session's begin": byPath("POST", "/session", {}),
};

/** Shows keys that nobody has until they are no longer looked up; returns that refusal. */
async function useUp(send: Send, address: string, unknown: () => string): Promise<Outcome> {
  const burst = await Promise.all(Array.from({ length: BURST }, () => send(unknown(), address)));
  expect(new Set(burst.map(({ code }) => code))).toEqual(new Set(["unauthenticated"]));
  for (let n = 0; n < REGAINED_MAX; n++) {
    const next = await send(unknown(), address);
    if (next.code !== "unauthenticated") return next;
  }
  throw new Error(`${BURST + REGAINED_MAX} unknown keys were looked up`);
}

function expectRefusal(refused: Outcome): void {
  expect(refused).toMatchObject({ code: "resource_exhausted", reason: "RATE_LIMITED" });
  expect(refused.message).toBe("too many unknown API keys or sessions from this address; try again in 1 s");
  expect(refused.header.get("retry-after")).toBe("1");
  if (refused.status !== undefined) expect(refused.status).toBe(429);
}

describe.each(Object.entries(WAYS))("by %s", (name, send) => {
  const address = `198.51.100.${Object.keys(WAYS).indexOf(name)}`;

  it("an address that has shown 100 unknown keys has to wait, unless its key is known", async () => {
    expectRefusal(await useUp(send, address, () => newSecret("key")));
    expect((await send(key, address)).code).toBe("ok");
    expect((await send(newSecret("key"), "192.0.2.1")).code).toBe("unauthenticated");
  });
});

it("a browser's sessions count as well", async () => {
  const session = await openBrowserSession(server.url, key);
  const [name] = session.cookie.split("=");
  const send: Send = async (secret, address) => {
    const headers = { cookie: `${name}=${secret}`, ...FROM_PORTAL, "x-forwarded-for": address };
    const outcome = await readJson(await fetch(`${server.url}/session`, { headers }));
    const { status } = outcome;
    // The answer to a browser that is not signed in is a good one.
    return status === 200
      ? { ...outcome, code: outcome.body.signed_in === true ? "ok" : "unauthenticated" }
      : outcome;
  };
  const unknown = () => makeSession({ expiresAtMs: 0 }).secret;
  expect((await send(session.secret, "203.0.113.1")).code).toBe("ok");
  expectRefusal(await useUp(send, "203.0.113.1", unknown));
  expect((await send(session.secret, "203.0.113.1")).code).toBe("ok");
});

it("an address may show one unknown key as often as it likes, and those of others stay", async () => {
  const send = byRpc(0, "GetAccount");
  const wrong = newSecret("key");
  const codes = new Set<string>();
  for (let n = 0; n < 2 * BURST; n++) codes.add((await send(wrong, "203.0.113.2")).code);
  expect([...codes]).toEqual(["unauthenticated"]);
  const { key: neighbours } = await signUp(server.url);
  expect((await send(neighbours, "203.0.113.2")).code).toBe("ok");
});
