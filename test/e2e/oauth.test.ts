import { IssuerMismatchError, UnauthorizedError } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { MONGO_DATABASE } from "../support/databases.js";
import { aFlow, anApp, aUser, BACK, ISSUER, type Json, post, RESOURCE, type User } from "../support/oauth.js";
import { sharedServer, startServer, type TestServer } from "../support/server.js";
import { openBrowserSession, postSession } from "../support/sessions.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
/** A call of a tool, which costs nothing and proves that its key lives. */
const TOOL_CALL = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "memory_namespaces", arguments: {} },
};
const DAY_MS = 86_400_000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { PUBLIC_URL: ISSUER } });
});
afterAll(() => server?.stop());

/** Opens an account whose owner is signed in. */
async function anOwner(url = server.url): Promise<{ caller: Caller; user: User }> {
  const caller = await signUp(url);
  return { caller, user: await aUser(url, caller.key) };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const ask = (key: string, url = server.url) => post(`${url}/mcp`, TOOL_CALL, bearer(key));

/** Calls an RPC about keys. */
const rpc = ({ call }: Caller, name: string, body: object = {}, key?: string) =>
  call(`POST /recalld.v1.AccountService/${name}`, {
    body: body as never,
    ...(key !== undefined && { header: bearer(key) }),
  });
const revoke = (caller: Caller, id: unknown) => rpc(caller, "RevokeKey", { id });

async function keysOf({ call }: Caller): Promise<Json[]> {
  return (await call("GET /keys")).body.keys as unknown as Json[];
}

/** Grants a key by hand, and returns it with its code. */
async function aGrantedKey(user: User, choice: object = {}, url = server.url) {
  const flow = await aFlow(url);
  const code = (await user.allow(flow.query(), choice)).searchParams.get("code") as string;
  const { body } = await flow.exchange(code);
  return { flow, code, key: String(body.access_token), body };
}

describe("a server without a public address", () => {
  let plain: TestServer;
  beforeAll(async () => {
    plain = await sharedServer();
  });

  it("has nothing of OAuth, and answers /mcp as ever", async () => {
    for (const path of [
      "oauth-protected-resource",
      "oauth-protected-resource/mcp",
      "oauth-authorization-server",
    ])
      expect((await fetch(`${plain.url}/.well-known/${path}`)).status).toBe(404);
    expect((await fetch(`${plain.url}/authorize`)).status).toBe(404);
    for (const path of ["register", "token", "authorize/request", "authorize/answer"])
      expect((await post(`${plain.url}/${path}`, {})).status).toBe(404);
    const { status, header } = await post(`${plain.url}/mcp`, LIST);
    expect([status, header.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });
});

describe("a server with a public address", () => {
  it("tells who has no key, or a wrong one, where to get one", async () => {
    const metadata = `resource_metadata="${ISSUER}/.well-known/oauth-protected-resource/mcp"`;
    const without = await post(`${server.url}/mcp`, LIST);
    expect([without.status, without.header.get("www-authenticate")]).toEqual([401, `Bearer ${metadata}`]);
    const wrong = await ask("rcl_no");
    expect([wrong.status, wrong.header.get("www-authenticate")]).toEqual([
      401,
      `Bearer error="invalid_token", ${metadata}`,
    ]);
    // Calls that are no business of OAuth stay as they are.
    const store = await post(`${server.url}/store`, {});
    expect([store.status, store.header.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  it("describes the resource and itself", async () => {
    const read = async (path: string) =>
      (await (await fetch(`${server.url}/.well-known/${path}`)).json()) as Json;
    for (const path of ["oauth-protected-resource", "oauth-protected-resource/mcp"])
      expect(await read(path)).toMatchObject({ resource: RESOURCE, authorization_servers: [ISSUER] });
    expect(await read("oauth-authorization-server")).toMatchObject({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      registration_endpoint: `${ISSUER}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
  });
});

describe("the protocol's own client", () => {
  it("registers, sends its user to consent, and then stores and recalls", async () => {
    const { caller, user } = await anOwner();
    const app = anApp(server.url);
    const first = app.open();
    await expect(first.client.connect(first.transport)).rejects.toThrow(UnauthorizedError);
    const sentTo = app.sentTo();
    expect(`${sentTo.origin}${sentTo.pathname}`).toBe(`${ISSUER}/authorize`);
    const query = sentTo.search.slice(1);
    expect((await user.ask("request", { query })).body).toEqual({
      client: { name: "Test app", host: "" },
      redirect: { host: "127.0.0.1:41234", is_local: true },
      reads_only: false,
    });
    const back = await user.allow(query, { namespace: "work", days: 7 });
    expect(`${back.origin}${back.pathname}`).toBe(BACK);
    expect(back.searchParams.get("iss")).toBe(ISSUER);
    expect(back.searchParams.get("state")).toBe("a state");
    await first.transport.finishAuth(back.searchParams);
    const { client, transport } = app.open();
    await client.connect(transport);
    await client.callTool({ name: "memory_store", arguments: { text: "Ada prefers tea." } });
    expect((await caller.recall("tea", "work")).body.results).toMatchObject([{ text: "Ada prefers tea." }]);
    const granted = (await keysOf(caller)).find(({ name }) => name === "Test app (127.0.0.1:41234)");
    expect(granted).toMatchObject({ access: "KEY_ACCESS_FULL", namespace: "work" });
    expect(Date.parse(granted?.expires_at) - Date.now()).toBeLessThanOrEqual(7 * DAY_MS);
    expect(Date.parse(granted?.expires_at) - Date.now()).toBeGreaterThan(6.9 * DAY_MS);
    // When its key is revoked it asks again, in a call of a tool as in any other.
    await revoke(caller, granted?.id);
    const late = client.callTool({ name: "memory_recall", arguments: { query: "tea" } });
    await expect(late).rejects.toThrow(UnauthorizedError);
  });

  it("is told that its user has denied it", async () => {
    const { caller, user } = await anOwner();
    const app = anApp(server.url);
    const { client, transport } = app.open();
    await expect(client.connect(transport)).rejects.toThrow(UnauthorizedError);
    const { body } = await user.ask("answer", { query: app.sentTo().search.slice(1), allow: false });
    const { searchParams } = new URL(body.location);
    expect([searchParams.get("error"), searchParams.get("iss")]).toEqual(["access_denied", ISSUER]);
    await expect(transport.finishAuth(searchParams)).rejects.toThrow("the user has denied it");
    expect(await keysOf(caller)).toHaveLength(1);
  });

  it("takes no code that another server has sent it (mix-up)", async () => {
    const { user } = await anOwner();
    const app = anApp(server.url);
    const { client, transport } = app.open();
    await expect(client.connect(transport)).rejects.toThrow(UnauthorizedError);
    const { searchParams } = await user.allow(app.sentTo().search.slice(1));
    searchParams.set("iss", "https://evil.example");
    await expect(transport.finishAuth(searchParams)).rejects.toThrow(IssuerMismatchError);
  });
});

describe("a key that an application got", () => {
  it("does what its user chose, and no more", async () => {
    const { user } = await anOwner();
    const { key, body } = await aGrantedKey(user, { access: "read_only", namespace: "home" });
    // Whole seconds, of which the last has begun unless both are of the same millisecond.
    expect([30 * 86_400 - 1, 30 * 86_400]).toContain(body.expires_in);
    expect(body).toMatchObject({ token_type: "Bearer", scope: "read" });
    expect(body).not.toHaveProperty("refresh_token");
    const { tools } = (await post(`${server.url}/mcp`, LIST, bearer(key))).body.result;
    expect(tools.map(({ name }: Json) => name)).not.toContain("memory_store");
    const stored = await post(`${server.url}/store`, { text: "a", namespace: "home" }, bearer(key));
    expect([stored.status, stored.body.code]).toEqual([403, "permission_denied"]);
    const elsewhere = await post(`${server.url}/recall`, { query: "a", namespace: "work" }, bearer(key));
    expect(elsewhere.status).toBe(403);
  });

  it("never gets more than was asked for", async () => {
    const { user } = await anOwner();
    const flow = await aFlow(server.url);
    const query = flow.query({ scope: "read" });
    expect((await user.ask("request", { query })).body).toMatchObject({ reads_only: true });
    const choice = { allow: true, access: "full", namespace: "", days: 30 };
    expect((await user.ask("answer", { query, ...choice })).status).toBe(400);
    expect((await user.ask("answer", { query, ...choice, access: "read_only" })).status).toBe(200);
  });

  it("manages no keys, closes no account, signs in nowhere and makes no successor", async () => {
    const { caller, user } = await anOwner();
    const { key } = await aGrantedKey(user);
    const [own] = await keysOf(caller);
    for (const [name, body] of [
      ["ListKeys", {}],
      ["CreateKey", { name: "mine" }],
      ["RevokeKey", { id: own?.id }],
      ["CloseAccount", { account_id: caller.id }],
    ] as const) {
      const { code, reason } = await rpc(caller, name, body, key);
      expect([name, code, reason]).toEqual([name, "permission_denied", "KEY_OF_CLIENT"]);
    }
    const session = await postSession(server.url, {}, bearer(key));
    expect([session.status, session.headers.get("set-cookie")]).toEqual([403, null]);
    const granted = (await keysOf(caller)).at(-1)?.id;
    const rotated = await rpc(caller, "CreateKey", { replaces: granted });
    expect([rotated.code, rotated.reason]).toEqual(["permission_denied", "KEY_OF_CLIENT"]);
  });

  it("does not count as the account's last key", async () => {
    const { caller, user } = await anOwner();
    const { key } = await aGrantedKey(user);
    const [own, granted] = await keysOf(caller);
    const refused = await revoke(caller, own?.id);
    expect([refused.code, refused.reason]).toEqual(["failed_precondition", "LAST_KEY"]);
    expect((await revoke(caller, granted?.id)).code).toBe("ok");
    expect((await ask(key)).status).toBe(401);
  });

  it("is forgotten with its account, as are codes that were not used", async () => {
    const { caller, user } = await anOwner();
    const { key } = await aGrantedKey(user);
    const flow = await aFlow(server.url);
    const code = (await user.allow(flow.query())).searchParams.get("code") as string;
    await caller.call("POST /recalld.v1.AccountService/CloseAccount", { body: { account_id: caller.id } });
    expect((await ask(key)).status).toBe(401);
    expect((await flow.exchange(code)).body.error).toBe("invalid_grant");
  });
});

describe("attacks on a code", () => {
  const refused = async (changes: Record<string, string | undefined>) => {
    const { user } = await anOwner();
    const flow = await aFlow(server.url);
    const code = (await user.allow(flow.query())).searchParams.get("code") as string;
    const { status, body, header } = await flow.exchange(code, changes);
    expect(body).not.toHaveProperty("access_token");
    expect(header.get("cache-control")).toBe("no-store");
    return [status, body.error];
  };

  it("ends the key of one that is replayed", async () => {
    const { caller, user } = await anOwner();
    const { flow, code, key } = await aGrantedKey(user);
    expect((await ask(key)).status).toBe(200);
    const again = await flow.exchange(code);
    expect([again.status, again.body.error]).toEqual([400, "invalid_grant"]);
    expect((await ask(key)).status).toBe(401);
    expect(await keysOf(caller)).toHaveLength(1);
  });

  it("ends it also for a thief without the verifier, or with another client", async () => {
    const { caller, user } = await anOwner();
    for (const changes of [
      { code_verifier: "x".repeat(43) },
      { client_id: (await aFlow(server.url)).clientId },
    ]) {
      const { flow, code } = await aGrantedKey(user);
      expect((await flow.exchange(code, changes)).body.error).toBe("invalid_grant");
      expect(await keysOf(caller)).toHaveLength(1);
    }
  });

  it("leaves no key of one that comes several times at once", async () => {
    const { caller, user } = await anOwner();
    for (let round = 0; round < 5; round++) {
      const flow = await aFlow(server.url);
      const code = (await user.allow(flow.query())).searchParams.get("code") as string;
      await Promise.all(Array.from({ length: 5 }, () => flow.exchange(code)));
      expect(await keysOf(caller)).toHaveLength(1);
    }
  });

  it.each([
    ["another address", { redirect_uri: "http://127.0.0.1:41235/callback" }, "invalid_request"],
    ["no address", { redirect_uri: undefined }, "invalid_request"],
    ["no verifier", { code_verifier: undefined }, "invalid_grant"],
    ["another verifier", { code_verifier: "x".repeat(43) }, "invalid_grant"],
    ["a foreign resource", { resource: "https://evil.example/mcp" }, "invalid_target"],
    ["another code", { code: `rco_${"x".repeat(49)}` }, "invalid_grant"],
    ["another grant", { grant_type: "client_credentials" }, "unsupported_grant_type"],
  ])("gives no key for %s", async (_, changes, error) => {
    expect(await refused(changes)).toEqual([400, error]);
  });

  it("gives no key to another client, or to none", async () => {
    const other = await aFlow(server.url);
    expect(await refused({ client_id: other.clientId })).toEqual([400, "invalid_grant"]);
    expect(await refused({ client_id: `${other.clientId}x` })).toEqual([401, "invalid_client"]);
    expect(await refused({ client_id: "https://app.example/client.json" })).toEqual([400, "invalid_grant"]);
  });

  it("reads each parameter once, and forms alone", async () => {
    const flow = await aFlow(server.url);
    const twice = new URLSearchParams([
      ["code", "a"],
      ["code", "b"],
    ]);
    expect((await post(`${server.url}/token`, twice)).body.error).toBe("invalid_request");
    const json = await post(`${server.url}/token`, { code: "a", client_id: flow.clientId });
    expect(json).toMatchObject({
      status: 415,
      body: { message: expect.stringMatching(/; send Content-Type: application\/x-www-form-urlencoded$/) },
    });
    const form = new URLSearchParams({ code: "a" });
    const zipped = await post(`${server.url}/token`, form, { "content-encoding": "br" });
    expect(zipped).toMatchObject({ status: 501, body: { error: "invalid_request" } });
  });
});

describe("attacks on the request for a code", () => {
  let user: User;
  beforeAll(async () => {
    ({ user } = await anOwner());
  });

  it.each([
    ["no challenge", { code_challenge: undefined }, "invalid_request"],
    ["a plain challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["a challenge of no method", { code_challenge_method: undefined }, "invalid_request"],
    ["a short challenge", { code_challenge: "abc" }, "invalid_request"],
    ["a foreign resource", { resource: "https://evil.example/mcp" }, "invalid_target"],
    ["another path of this server", { resource: `${ISSUER}/store` }, "invalid_target"],
    ["no resource", { resource: undefined }, "invalid_target"],
    ["a token in the address", { response_type: "token" }, "unsupported_response_type"],
    ["an answer in the fragment", { response_mode: "fragment" }, "invalid_request"],
  ])("gives no code for %s", async (_, changes, error) => {
    const flow = await aFlow(server.url);
    const query = flow.query(changes);
    const { body } = await user.ask("request", { query });
    expect(body.problem.error).toBe(error);
    const back = new URL(body.location);
    expect([back.searchParams.get("error"), back.searchParams.get("iss")]).toEqual([error, ISSUER]);
    const choice = { allow: true, access: "full", namespace: "", days: 30 };
    const answered = new URL((await user.ask("answer", { query, ...choice })).body.location);
    expect([answered.searchParams.get("error"), answered.searchParams.get("code")]).toEqual([error, null]);
  });

  it.each([
    "https://evil.example/callback",
    "http://127.0.0.1:41234/callback/",
    "http://127.0.0.1:41234/callback?x=1",
    "http://127.0.0.1.evil.example:41234/callback",
    "http://127.0.0.1:41234@evil.example/callback",
    "http://localhost:41234/callback",
    "https://127.0.0.1:41234/callback",
    "javascript:alert(1)",
  ])("sends nobody to %s (open redirect)", async (redirect_uri) => {
    const flow = await aFlow(server.url);
    for (const path of ["request", "answer"] as const) {
      const query = flow.query({ redirect_uri });
      const { status, body } = await user.ask(path, { query, allow: false });
      expect([path, status, body.location]).toEqual([path, 400, undefined]);
      expect(body.message).toBe("redirect_uri is not one that this application has registered");
    }
  });

  it("lets a program of this device choose its port, and keeps its address as it is", async () => {
    const flow = await aFlow(server.url, "http://localhost:1/back?a=%20b");
    const back = await user.allow(flow.query({ redirect_uri: "http://localhost:50123/back?a=%20b" }));
    expect(back.href).toMatch(/^http:\/\/localhost:50123\/back\?a=%20b&code=rco_\w+&state=xyz&iss=/);
  });

  it.each([
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://169.254.169.254/latest/meta-data/",
    "https://localhost/client.json",
    "https://2130706433/client.json",
    "https://memory.internal:8443/client.json",
    "https://user@app.example/client.json",
    "https://app.example/",
    "https://app.example/client.json?x=1",
    "https://app.example/a/../client.json",
    "http://app.example/client.json",
    "file:///etc/passwd",
  ])("fetches no document at %s (SSRF)", async (client_id) => {
    const flow = await aFlow(server.url);
    const { status, body } = await user.ask("request", { query: flow.query({ client_id }) });
    expect([status, body.code]).toEqual([400, "invalid_argument"]);
    expect(body.message).toMatch(/^client_id /);
  });

  it("refuses a parameter that comes twice, and a client that it does not know", async () => {
    const flow = await aFlow(server.url);
    const twice = await user.ask("request", { query: `${flow.query()}&client_id=x` });
    expect(twice.status).toBe(400);
    const forged = `${flow.clientId.slice(0, -1)}${flow.clientId.endsWith("A") ? "B" : "A"}`;
    for (const client_id of [forged, "rcc_", "x", undefined])
      expect((await user.ask("request", { query: flow.query({ client_id }) })).status).toBe(400);
  });
});

describe("attacks on the consent", () => {
  it("needs the portal's own request: a cookie alone, a key or another site's page does not do", async () => {
    const { caller } = await anOwner();
    const { cookie, header } = await openBrowserSession(server.url, caller.key);
    const flow = await aFlow(server.url);
    const body = { query: flow.query(), allow: true, access: "full", namespace: "", days: 30 };
    const answer = (given: Record<string, string>) => post(`${server.url}/authorize/answer`, body, given);
    for (const given of [
      { cookie },
      bearer(caller.key),
      { ...header, "sec-fetch-site": "cross-site" },
      { ...header, "sec-fetch-site": "same-site" },
      { ...header, "sec-fetch-site": "none" },
    ]) {
      const { status, body: told } = await answer(given as Record<string, string>);
      expect([given, status, told.location]).toEqual([given, 401, undefined]);
    }
    for (const type of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])
      expect((await answer({ ...header, "content-type": type })).status).toBe(415);
    expect((await answer({ ...header, "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  it("is for keys that manage the account, before anything is looked up", async () => {
    const caller = await signUp(server.url);
    const flow = await aFlow(server.url);
    for (const scope of [{ namespace: "home" }, { access: "KEY_ACCESS_READ_ONLY" }]) {
      const { body } = await rpc(caller, "CreateKey", { name: "less", ...scope });
      const user = await aUser(server.url, String(body.api_key));
      for (const client_id of [flow.clientId, "https://app.example/client.json"])
        expect((await user.ask("request", { query: flow.query({ client_id }) })).status).toBe(403);
    }
  });

  it.each([
    ["no choice", { allow: true }],
    ["another access", { allow: true, access: "all", namespace: "", days: 1 }],
    ["a key for ever", { allow: true, access: "full", namespace: "", days: 366 }],
    ["no time", { allow: true, access: "full", namespace: "", days: 0 }],
    ["a namespace that none can be", { allow: true, access: "full", namespace: "a\u0000b", days: 1 }],
    ["more than is read", { allow: true, access: "full", namespace: "", days: 1, admin: true }],
    ["neither yes nor no", { allow: "yes" }],
  ])("takes no answer with %s", async (_, answer) => {
    const { user } = await anOwner();
    const flow = await aFlow(server.url);
    expect((await user.ask("answer", { query: flow.query(), ...answer })).status).toBe(400);
  });
});

describe("a registration", () => {
  const register = (body: unknown, url = server.url) => post(`${url}/register`, body);

  it("makes a public client, whatever was asked for, and shows a name as it can be read", async () => {
    const asked = {
      client_name: " Cla\u202Eude\u0007\n x ",
      redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
      token_endpoint_auth_method: "client_secret_post",
      grant_types: ["authorization_code", "refresh_token"],
    };
    const { status, body, header } = await register(asked);
    expect([status, header.get("cache-control")]).toEqual([201, "no-store"]);
    expect(body).toMatchObject({
      client_name: "Claude x",
      redirect_uris: asked.redirect_uris,
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code"],
    });
    expect(body).not.toHaveProperty("client_secret");
  });

  it.each([
    ["no addresses", {}],
    ["an empty list", { redirect_uris: [] }],
    ["plain HTTP", { redirect_uris: ["http://app.example/back"] }],
    ["a script", { redirect_uris: ["javascript:alert(1)"] }],
    ["data", { redirect_uris: ["data:text/html,x"] }],
    ["a program that opens files", { redirect_uris: ["ms-msdt:/id"] }],
    ["a fragment", { redirect_uris: ["https://app.example/#x"] }],
    ["a user", { redirect_uris: ["https://good.example@evil.example/"] }],
    ["a backslash", { redirect_uris: ["https://evil.example\\@good.example/"] }],
    ["too many addresses", { redirect_uris: Array.from({ length: 11 }, (_, n) => `https://a.example/${n}`) }],
    ["long addresses", { redirect_uris: [`https://a.example/${"x".repeat(600)}`] }],
  ])("is refused with %s", async (_, body) => {
    expect(await register(body)).toMatchObject({ status: 400, body: { error: "invalid_redirect_uri" } });
  });

  it("is bounded in size, and in number an hour", async () => {
    const uri = { redirect_uris: [BACK] };
    const large = await register({ ...uri, client_name: "x".repeat(20_000) });
    expect(large).toMatchObject({ status: 413, body: { error: "invalid_request" } });
    const strict = await startServer({ env: { PUBLIC_URL: ISSUER, SIGNUPS_PER_HOUR: "3" } });
    try {
      const told = [];
      for (let time = 0; time < 5; time++) told.push(await register(uri, strict.url));
      expect(told.map(({ status }) => status)).toEqual([201, 201, 201, 429, 429]);
      expect(Number(told.at(-1)?.header.get("retry-after"))).toBeGreaterThan(0);
      // Who registers takes nobody's sign-up.
      expect((await post(`${strict.url}/signup`, {})).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });

  it("is known to a server that was started anew", async () => {
    const database = { dataDir: server.dataDir };
    const flow = await aFlow(server.url);
    await server.stop();
    server = await startServer({ ...database, env: { PUBLIC_URL: ISSUER } });
    const { user } = await anOwner();
    expect((await user.ask("request", { query: flow.query() })).status).toBe(200);
  });
});

it("logs no code, no key and no verifier", async () => {
  const { user } = await anOwner();
  const { flow, code, key } = await aGrantedKey(user);
  await vi.waitFor(() => expect(server.output()).toContain('"method":"POST /token"'));
  for (const secret of [code, key, flow.verifier]) expect(server.output()).not.toContain(secret);
});

describe.skipIf(MONGO_DATABASE.missing !== undefined)(`two servers over ${MONGO_DATABASE.name}`, () => {
  it("share clients, codes and keys, and end a replayed code's key for both", async () => {
    const database = await MONGO_DATABASE.make();
    const start = () => database.start({ PUBLIC_URL: ISSUER });
    const [here, there] = (await Promise.all([start(), start()])) as [TestServer, TestServer];
    try {
      const { caller } = await anOwner(here.url);
      const user = await aUser(there.url, caller.key);
      const flow = await aFlow(here.url);
      const code = (await user.allow(flow.query())).searchParams.get("code") as string;
      const { body } = await flow.exchange(code);
      const key = String(body.access_token);
      expect([(await ask(key, here.url)).status, (await ask(key, there.url)).status]).toEqual([200, 200]);
      const elsewhere = new URLSearchParams({
        grant_type: "authorization_code",
        client_id: flow.clientId,
        redirect_uri: BACK,
        code,
        code_verifier: flow.verifier,
      });
      expect((await post(`${there.url}/token`, elsewhere)).body.error).toBe("invalid_grant");
      expect(await keysOf(caller)).toHaveLength(1);
      expect([(await ask(key, here.url)).status, (await ask(key, there.url)).status]).toEqual([401, 401]);
    } finally {
      await Promise.all([here.stop(), there.stop()]);
    }
  });
});
