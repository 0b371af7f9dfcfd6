import { readFileSync } from "node:fs";
import { request } from "node:https";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { callerAt, signUp } from "../support/caller.js";
import { certificates } from "../support/certificates.js";
import { DATABASES, LOCAL_DATABASE, MONGO_DATABASE } from "../support/databases.js";
import { postByHttp2 } from "../support/http2-post.js";
import { ok } from "../support/keys.js";
import { type Outcome, type Protocol, protocolsOf, readJson } from "../support/protocols.js";
import { startServer, type TestServer } from "../support/server.js";
import { type BrowserSession, FROM_PORTAL, openBrowserSession, postSession } from "../support/sessions.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const HOUR_MS = 3_600_000;
const { file } = certificates();
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);
const CLOSED = ["gRPC", "gRPC-Web"];

describe.each(DATABASES)("a browser's session on $name", ({ make, missing }) => {
  let server: TestServer;
  beforeAll(async () => {
    if (missing === undefined) server = await (await make()).start();
  });
  afterAll(() => server?.stop());
  const connect = () => protocolsOf(server.url)[1] as Protocol;
  const account = (header: Record<string, string>) => connect().call("GetAccount", {}, { header });
  const listed = async (key: string) =>
    ((await ok(connect(), "ListKeys", { key })).keys as JsonObject[]).flatMap(
      ({ sessions }) => sessions as JsonObject[],
    );

  it.skipIf(missing !== undefined)(
    "stands for its key, is listed with it, and is revoked alone",
    async () => {
      const { key } = await signUp(server.url);
      const [one, other] = [
        await openBrowserSession(server.url, key),
        await openBrowserSession(server.url, key, { stay: true }),
      ];
      const { body } = await account(one.header);
      expect(body.key).toMatchObject({ current: true, sessions: [{ current: true }, { current: false }] });
      const [first, second] = (await listed(key)) as [JsonObject, JsonObject];
      expect([first, second]).toEqual(
        [one, other].map(({ expiresAtMs }) => ({
          id: expect.stringMatching(/^ses_[0-9a-z]{26}$/),
          created_at: expect.any(String),
          expires_at: new Date(expiresAtMs).toISOString().replace(".000", ""),
          current: false,
        })),
      );
      await ok(connect(), "RevokeKey", { request: { id: first.id as string }, key });
      expect((await account(one.header)).code).toBe("unauthenticated");
      expect((await account(other.header)).code).toBe("ok");
      expect(await listed(key)).toEqual([second]);
    },
  );

  it.skipIf(missing !== undefined)("begins by HTTP/2, too, as browsers call over TLS", async () => {
    const { key } = await signUp(server.url);
    const authorization = `Bearer ${key}`;
    expect(await postByHttp2(`${server.url}/session`, {}, { authorization })).toBe(200);
    expect(await listed(key)).toHaveLength(1);
  });

  it.skipIf(missing !== undefined)(
    "ends with its key, with its account, and when it is signed out",
    async () => {
      const caller = await signUp(server.url);
      const made = await ok(connect(), "CreateKey", { key: caller.key });
      const child = await openBrowserSession(server.url, String(made.api_key));
      const [out, last] = [
        await openBrowserSession(server.url, caller.key),
        await openBrowserSession(server.url, caller.key),
      ];
      const id = (made.key as JsonObject).id as string;
      await ok(connect(), "RevokeKey", { request: { id }, key: caller.key });
      expect((await account(child.header)).code).toBe("unauthenticated");
      const gone = await fetch(`${server.url}/session`, { method: "DELETE", headers: out.header });
      expect([gone.status, gone.headers.get("set-cookie")]).toEqual([
        200,
        expect.stringMatching(/^recalld-session-\d+=; .*Max-Age=0$/),
      ]);
      expect((await account(out.header)).code).toBe("unauthenticated");
      const close = { account_id: caller.id };
      const closed = await connect().call("CloseAccount", close, { header: last.header });
      expect(closed.code).toBe("ok");
      expect((await account(last.header)).code).toBe("unauthenticated");
    },
  );

  it.skipIf(missing !== undefined)(
    "ends at its key's end, and counts neither as a key nor as the last",
    async () => {
      const { key } = await signUp(server.url);
      const made = await ok(connect(), "CreateKey", { request: { ttl: "1.5s" }, key });
      const session = await openBrowserSession(server.url, String(made.api_key), { stay: true });
      expect((await account(session.header)).code).toBe("ok");
      expect(session.expiresAtMs).toBeLessThan(Date.now() + 1_600);
      await new Promise((resolve) => setTimeout(resolve, 1_700));
      expect((await account(session.header)).code).toBe("unauthenticated");
      await openBrowserSession(server.url, key);
      const [{ id }] = (await ok(connect(), "ListKeys", { key })).keys as [JsonObject];
      const last = await connect().call("RevokeKey", { id: id as string }, { key });
      expect(last).toMatchObject({ code: "failed_precondition", reason: "LAST_KEY" });
    },
  );

  it.skipIf(missing !== undefined)("is one of 20 of a key: the oldest makes room", async () => {
    const { key } = await signUp(server.url);
    const first = await openBrowserSession(server.url, key);
    for (let i = 0; i < 19; i++) await openBrowserSession(server.url, key);
    expect((await account(first.header)).code).toBe("ok");
    await openBrowserSession(server.url, key);
    expect((await account(first.header)).code).toBe("unauthenticated");
    expect(await listed(key)).toHaveLength(20);
  });
});

describe("the cookie", () => {
  let server: TestServer;
  let key: string;
  let session: BrowserSession;
  beforeAll(async () => {
    server = await (await LOCAL_DATABASE.make()).start({ CORS_ORIGINS: "*" });
    ({ key } = await signUp(server.url));
    session = await openBrowserSession(server.url, key);
  });
  afterAll(() => server?.stop());
  const get = async (header: Record<string, string>): Promise<Outcome> =>
    readJson(await fetch(`${server.url}/account`, { headers: header }));

  it("is for the server alone, and for this site alone, and lasts as long as was asked", async () => {
    const port = new URL(server.url).port;
    const name = `recalld-session-${port}`;
    expect(session.setCookie).toMatch(
      new RegExp(`^${name}=rcs_[0-9A-Za-z]{49}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect(session.expiresAtMs).toBeGreaterThan(Date.now() + 11.9 * HOUR_MS);
    expect(session.expiresAtMs).toBeLessThan(Date.now() + 12 * HOUR_MS);
    const staying = await openBrowserSession(server.url, key, { stay: true });
    const [, age] = /; HttpOnly; SameSite=Strict; Max-Age=(\d+)$/.exec(staying.setCookie) ?? [];
    expect(Number(age)).toBeGreaterThan(30 * 24 * 3_600 - 60);
    expect(staying.expiresAtMs).toBeLessThan(Date.now() + 30 * 24 * HOUR_MS);
  });

  it.each(PROTOCOLS)("counts through %s only where the portal calls", async (name) => {
    const protocol = protocolsOf(server.url).find((each) => each.name === name) as Protocol;
    const calls = [
      ["GetAccount", {}],
      ["ListNamespaces", {}],
      ["Store", { text: "a", namespace: "n" }],
      ["Recall", { query: "a", namespace: "n" }],
    ] as const;
    for (const [rpc, request] of calls) {
      const { code } = await protocol.call(rpc, request, { header: session.header });
      expect([rpc, code]).toEqual([rpc, CLOSED.includes(name) ? "unauthenticated" : "ok"]);
    }
  });

  it("counts on the paths of streams", async () => {
    const caller = callerAt(server.url, { id: "", key });
    await caller.store({ text: "a", namespace: "streamed" });
    const url = `${server.url}/namespaces/streamed/export`;
    expect((await fetch(url, { headers: { cookie: session.cookie } })).status).toBe(401);
    const exported = await fetch(url, { headers: session.header });
    expect([exported.status, (await exported.text()).includes('"text":"a"')]).toEqual([200, true]);
  });

  it.each([
    ["without the portal's header", () => ({ cookie: session.cookie })],
    ["with another value of it", () => ({ ...session.header, "x-recalld-session": "0" })],
    ["for another site's page", () => ({ ...session.header, "sec-fetch-site": "cross-site" })],
    ["for another origin of the site", () => ({ ...session.header, "sec-fetch-site": "same-site" })],
    ["for an address that was typed", () => ({ ...session.header, "sec-fetch-site": "none" })],
    ["under another name", () => ({ ...session.header, cookie: `other=${session.secret}` })],
    ["under its name of TLS", () => ({ ...session.header, cookie: `__Host-${session.cookie}` })],
    ["with a key in it", () => ({ ...session.header, cookie: session.cookie.replace(/=.*/, `=${key}`) })],
    ["as a key", () => ({ authorization: `Bearer ${session.secret}`, ...FROM_PORTAL })],
    ["as the other key", () => ({ "x-api-key": session.secret, ...FROM_PORTAL })],
    ["beside a wrong key", () => ({ ...session.header, authorization: "Bearer nonsense" })],
    ["beside a wrong authorization", () => ({ ...session.header, authorization: "Basic YTpi" })],
    ["beside a wrong other key", () => ({ ...session.header, "x-api-key": "nonsense" })],
  ])("does not count %s", async (_, header) => {
    expect((await get(session.header)).code).toBe("ok");
    expect(await get(header())).toMatchObject({ code: "unauthenticated", status: 401 });
  });

  it("counts for a page of the same origin, among other cookies", async () => {
    const cookie = `a=b; ${session.cookie}; c=d`;
    expect((await get({ ...session.header, cookie, "sec-fetch-site": "same-origin" })).code).toBe("ok");
  });

  it("does not count beside a key: the key wins", async () => {
    const other = await signUp(server.url);
    const header = { ...session.header, authorization: `Bearer ${other.key}` };
    expect((await get(header)).body.account_id).toBe(other.id);
  });

  it("does not count for agents", async () => {
    for (const method of ["tools/list", "tools/call", "ping"]) {
      const answer = await fetch(`${server.url}/mcp`, {
        method: "POST",
        headers: {
          ...session.header,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method,
          params: { name: "memory_namespaces", arguments: {} },
        }),
      });
      expect([method, answer.status]).toEqual([method, 401]);
    }
  });

  it("is never allowed to pages of other origins, not even where all may call", async () => {
    const preflight = await fetch(`${server.url}/account`, {
      method: "OPTIONS",
      headers: {
        origin: "https://evil.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "x-recalld-session",
      },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).not.toContain("x-recalld");
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
  });

  it("is told in a good answer, and cannot be ended or opened by another site", async () => {
    const own = await openBrowserSession(server.url, key);
    const told = async (header: Record<string, string>) =>
      (await (await fetch(`${server.url}/session`, { headers: header })).json()) as JsonObject;
    expect(await told(own.header)).toEqual({ signed_in: true });
    expect(await told({ cookie: own.cookie })).toEqual({ signed_in: false });
    expect(await told(FROM_PORTAL)).toEqual({ signed_in: false });
    const forged = await fetch(`${server.url}/session`, {
      method: "DELETE",
      headers: { cookie: own.cookie },
    });
    expect([forged.status, forged.headers.get("set-cookie")]).toEqual([401, null]);
    expect(await told(own.header)).toEqual({ signed_in: true });
    const end = () => fetch(`${server.url}/session`, { method: "DELETE", headers: own.header });
    expect([(await end()).status, (await end()).status]).toEqual([200, 200]);
    expect(await told(own.header)).toEqual({ signed_in: false });
  });

  it.each([
    ["no key", {}, {}, 401, "unauthenticated"],
    ["a wrong key", {}, { authorization: "Bearer rcl_no" }, 401, "unauthenticated"],
    ["a text for stay", { stay: "yes" }, undefined, 400, "invalid_argument"],
    ["an unknown field", { stays: true }, undefined, 400, "invalid_argument"],
    ["a list", [], undefined, 400, "invalid_argument"],
    ["a field that comes twice", '{"stay":true,"stay":false}', undefined, 400, "invalid_argument"],
    ["what is no JSON", "stay", undefined, 400, "invalid_argument"],
    ["a large body", { stay: true, x: "x".repeat(2_000) }, undefined, 413, "resource_exhausted"],
    ["a form", "stay=1", { "content-type": "application/x-www-form-urlencoded" }, 415, "invalid_argument"],
  ] as const)("is not made of %s", async (_, body, header, status, code) => {
    const withKey =
      header !== undefined && !("content-type" in header)
        ? header
        : { authorization: `Bearer ${key}`, ...header };
    const response = await postSession(server.url, body, withKey);
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(response.headers.get("x-request-id")).toMatch(/./);
    expect(await readJson(response)).toMatchObject({ code, status });
  });

  it("is not made by another cookie, nor does the reply say more than it must", async () => {
    const response = await postSession(server.url, { stay: true }, session.header);
    expect(response.status).toBe(401);
    const made = await postSession(server.url, {}, { "x-api-key": key });
    expect(Object.keys((await made.json()) as JsonObject)).toEqual(["expires_at"]);
    expect(made.headers.get("cache-control")).toBe("no-store");
  });

  it("is never logged, nor is its secret anywhere to be read", async () => {
    const [{ id }] = (await ok(protocolsOf(server.url)[1] as Protocol, "ListKeys", { key })).keys as [
      JsonObject,
    ];
    expect(id).toMatch(/^key_/);
    const list = JSON.stringify(await ok(protocolsOf(server.url)[1] as Protocol, "ListKeys", { key }));
    await get({ ...session.header, "x-request-id": session.secret });
    expect(list).not.toContain("rcs_");
    expect(server.output()).toContain('"method":"POST /session"');
    expect(server.output()).not.toContain("rcs_");
  });
});

describe("the cookie where the connection is secure", () => {
  it("has a name that only secure pages of this host can set, over TLS", async () => {
    const ca = readFileSync(file("a.crt"));
    const server = await startServer({ env: { TLS_CERT: file("a.crt"), TLS_KEY: file("a.key") } });
    try {
      const ask = (method: string, path: string, headers: Record<string, string>, body = "") =>
        new Promise<{ cookie: string; json: JsonObject }>((resolve, reject) => {
          const sent = request(server.url + path, { ca, method, headers }, (answer) => {
            let text = "";
            answer.on("data", (chunk) => (text += chunk));
            answer.on("end", () => {
              resolve({ cookie: answer.headers["set-cookie"]?.[0] ?? "", json: JSON.parse(text) });
            });
          });
          sent.on("error", reject).end(body);
        });
      const json = { "content-type": "application/json" };
      const { api_key } = (await ask("POST", "/signup", json, "{}")).json;
      const made = await ask("POST", "/session", { ...json, authorization: `Bearer ${api_key}` }, "{}");
      expect(made.cookie).toMatch(
        /^__Host-recalld-session-\d+=rcs_\w+; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      );
      const cookie = made.cookie.split(";")[0] as string;
      expect((await ask("GET", "/session", { cookie, ...FROM_PORTAL })).json).toEqual({ signed_in: true });
      const plain = cookie.replace("__Host-", "");
      expect((await ask("GET", "/session", { cookie: plain, ...FROM_PORTAL })).json).toEqual({
        signed_in: false,
      });
    } finally {
      await server.stop();
    }
  });

  it("has it behind a trusted proxy that says so, and behind no other", async () => {
    const secure = { "x-forwarded-proto": "https" };
    for (const [env, found] of [
      [{ TRUSTED_PROXIES: "127.0.0.1/32" }, true],
      [{}, false],
    ] as const) {
      const server = await startServer({ env });
      const { key } = await signUp(server.url);
      const { setCookie } = await openBrowserSession(server.url, key, { header: secure });
      expect([setCookie.startsWith("__Host-"), setCookie.includes("; Secure")]).toEqual([found, found]);
      await server.stop();
    }
  });
});

describe.skipIf(MONGO_DATABASE.missing !== undefined)(
  `sessions of two servers over ${MONGO_DATABASE.name}`,
  () => {
    it("are refused at once that the other ended, for calls that cost and calls that do not", async () => {
      const database = await MONGO_DATABASE.make();
      const [here, there] = (await Promise.all([database.start(), database.start()])) as [
        TestServer,
        TestServer,
      ];
      try {
        const { key } = await signUp(here.url);
        for (const rpc of ["Store", "Recall", "GetAccount", "ListNamespaces", "ListKeys"] as const) {
          const session = await openBrowserSession(here.url, key);
          const request = { Store: { text: "a", namespace: "n" }, Recall: { query: "a", namespace: "n" } };
          // The cookie names the port, which is the same for both behind a balancer.
          const cookie = session.cookie.replace(`-${here.port}=`, `-${there.port}=`);
          const header = { ...session.header, cookie };
          const ask = () =>
            (protocolsOf(there.url)[1] as Protocol).call(rpc, (request as never)[rpc] ?? {}, { header });
          expect([rpc, (await ask()).code]).toEqual([rpc, "ok"]);
          await fetch(`${here.url}/session`, { method: "DELETE", headers: session.header });
          expect([rpc, (await ask()).code]).toEqual([rpc, "unauthenticated"]);
        }
      } finally {
        await Promise.all([here.stop(), there.stop()]);
      }
    });
  },
);
