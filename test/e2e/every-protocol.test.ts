import { beforeAll, describe, expect, it } from "vitest";
import { FACT, partOf, QUESTION } from "../support/needles.js";
import { type Outcome, type Protocol, protocolsOf, type RpcName } from "../support/protocols.js";
import { SCENARIOS } from "../support/scenarios.js";
import { VERSION_SCENARIOS } from "../support/scenarios-versions.js";
import { MANY_CALLS, sharedServer, type TestServer } from "../support/server.js";

// The protocols' names are needed before the server's port is known.
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name, json }) => ({ name, json }));

let server: TestServer;
let protocols: readonly Protocol[];
let key: string;

beforeAll(async () => {
  server = await sharedServer();
  protocols = protocolsOf(server.url);
  key = String((await (protocols[0] as Protocol).call("SignUp", {})).body.api_key);
});

describe.each(PROTOCOLS)("through $name", ({ name, json }) => {
  const protocol = () => protocols.find((each) => each.name === name) as Protocol;
  const used = async () => (await protocol().call("GetAccount", {}, { key })).body.calls_used as number;

  /** What the account has been charged, once it was asked. */
  let charges: number | undefined;
  const scenarios = [...SCENARIOS, ...VERSION_SCENARIOS].filter(({ jsonOnly }) => json || !jsonOnly);
  it.each(scenarios)("$rpc answers $code to $name", async ({ rpc, request, code, field, says }) => {
    charges ??= await used();
    const outcome = await protocol().call(rpc, request, { key });
    expect(outcome).toMatchObject({ code });
    if (field !== undefined) expect(outcome.fields).toEqual([field]);
    if (says !== undefined) expect(outcome.message).toMatch(says);
    expect(outcome.header.get("x-request-id")).toMatch(/^[\w-]{36}$/);
    // The next one that is not refused shows whether this one was charged.
    if (code !== "ok") return;
    const expected = charges + costOf(rpc, { request, outcome });
    charges = await used();
    expect(charges).toBe(expected);
  });

  it("charges nothing for what is refused", async () => {
    charges ??= await used();
    expect(await used()).toBe(charges);
  });

  it.each([
    ["no key", {}],
    ["a key of another form", { authorization: "Bearer sk-123" }],
    ["a mistyped key", { authorization: `Bearer rcl_${"0".repeat(49)}` }],
    ["another scheme", { authorization: "Basic cmNsOnJjbA==" }],
    ["an empty key", { authorization: "Bearer " }],
  ])("refuses %s", async (_, header) => {
    for (const rpc of ["Store", "Recall", "GetAccount"] as const) {
      expectUnauthenticated(await protocol().call(rpc, {}, { header }));
    }
  });

  it("refuses a well-formed key that nobody has", async () => {
    // The generator made this key, so its checksum is right.
    const { newSecret } = await import("../../src/accounts/key.js");
    const unknown = newSecret("key");
    const outcome = await protocol().call("Recall", { query: "a", namespace: "n" }, { key: unknown });
    expectUnauthenticated(outcome);
    expect(outcome.message).not.toContain(unknown);
  });

  it("takes the key as X-API-Key as well", async () => {
    const outcome = await protocol().call("GetAccount", {}, { header: { "x-api-key": key } });
    expect(outcome.code).toBe("ok");
  });

  it.each(["connect-timeout-ms", "grpc-timeout"])("refuses a %s that is no time", async (name) => {
    const outcome = await protocol().call("GetAccount", {}, { key, header: { [name]: "soon" } });
    expect(outcome).toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(/invalid \w+ timeout value: soon$/),
    });
  });

  it("takes over a request id that looks like one, and no other", async () => {
    const echo = async (id: string) =>
      (await protocol().call("GetAccount", {}, { key, header: { "x-request-id": id } })).header.get(
        "x-request-id",
      );
    expect(await echo("trace-42")).toBe("trace-42");
    expect(await echo("no good!")).not.toBe("no good!");
    // The request id is logged, which a key must not be.
    expect(await echo(key)).not.toContain(key);
    expect(await echo(`trace-${key}`)).not.toContain(key);
    const { newSecret } = await import("../../src/accounts/key.js");
    for (const secret of [newSecret("session"), newSecret("code")])
      expect(await echo(secret)).not.toContain(secret);
  });

  it("signs up, stores three memories and recalls them in order of meaning", async () => {
    const signedUp = await protocol().call("SignUp", { email: "ada@example.org" });
    expect(signedUp.body).toEqual({
      account_id: expect.stringMatching(/^acc_[0-9a-z]{26}$/),
      api_key: expect.stringMatching(/^rcl_[0-9A-Za-z]{49}$/),
      plan: "free",
      calls_limit: MANY_CALLS,
      calls_used: 0,
    });
    const mine = { key: String(signedUp.body.api_key) };
    const texts = [
      "The cat sleeps on the radiator.",
      "Interest rates rose again.",
      "A kitten naps near the heater.",
    ];
    const stored: Outcome[] = [];
    for (const text of texts) {
      stored.push(
        await protocol().call("Store", { text, namespace: "pets", metadata: { text, n: 1.5 } }, mine),
      );
    }
    for (const { body } of stored) {
      expect(body).toEqual({
        id: expect.stringMatching(/^mem_[0-9a-z]{26}$/),
        namespace: "pets",
        tokens: expect.any(Number),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
      });
    }
    const { body } = await protocol().call(
      "Recall",
      { query: "Where does the cat sleep?", namespace: "pets" },
      mine,
    );
    const results = body.results as { id: string; text: string; score: number; metadata: unknown }[];
    expect(body).toMatchObject({ namespace: "pets", query_tokens: 6 });
    expect(results.map(({ text }) => text)).toEqual([texts[0], texts[2], texts[1]]);
    expect(results.map(({ id }) => id)).toEqual([0, 2, 1].map((i) => (stored[i] as Outcome).body.id));
    expect(results[0]?.metadata).toEqual({ text: texts[0], n: 1.5 });
    for (const { score } of results) expect(score).toBeGreaterThanOrEqual(0);
    expect(results[0]?.score).toBeGreaterThan(results[2]?.score as number);
    const account = await protocol().call("GetAccount", {}, mine);
    expect(account.body).toEqual({
      account_id: signedUp.body.account_id,
      email: "ada@example.org",
      plan: "free",
      calls_limit: MANY_CALLS,
      calls_used: 4,
      created_at: expect.any(String),
      key: expect.objectContaining({ name: "first key", current: true }),
      model: { id: "bundled", languages: ["en"], strong_score: 0.8 },
    });
  });

  it("tells which part of a memory was found, in code points", async () => {
    const filler = "😀 Nothing of importance was said about the weather on that day. ".repeat(60);
    const long = `${filler}${FACT} ${filler}`;
    const namespace = `long texts, ${name}`;
    await protocol().call("Store", { text: long, namespace }, { key });
    await protocol().call("Store", { text: "😀 is a smile", namespace }, { key });
    const { body } = await protocol().call("Recall", { query: QUESTION, namespace }, { key });
    const [best, second, ...more] = body.results as { text: string; match: { start: number; end: number } }[];
    expect(more).toEqual([]);
    expect(best?.text).toBe(long);
    expect(partOf(long, best?.match as never)).toContain(FACT);
    expect((best?.match.end as number) - (best?.match.start as number)).toBeLessThan(1000);
    expect(second?.match).toEqual({ start: 0, end: 12 });
  });

  it("recalls nothing from a namespace nobody stored to", async () => {
    const { body } = await protocol().call("Recall", { query: "anything", namespace: "never" }, { key });
    expect(body).toEqual({ results: [], namespace: "never", query_tokens: 1, considered: 0 });
  });
});

/** Calls that a request costs which was answered: a memory of a batch that a slow machine has no time to read costs none. */
function costOf(rpc: RpcName, { request, outcome }: { request: unknown; outcome: Outcome }): number {
  const { memories = [], queries } = request as { memories?: unknown[]; queries?: unknown[] };
  if (rpc === "Store") return 1;
  if (rpc === "Recall") return queries?.length ?? 1;
  if (rpc !== "StoreBatch") return 0;
  const results = outcome.body.results as { error?: { reason: string } }[];
  expect(results).toHaveLength(memories.length);
  const errors = results.flatMap(({ error }) => error ?? []);
  for (const { reason } of errors) expect(reason).toBe("MODEL_BUSY");
  return memories.length - errors.length;
}

function expectUnauthenticated(outcome: Outcome): void {
  expect(outcome.code).toBe("unauthenticated");
  expect(outcome.header.get("www-authenticate")).toBe("Bearer");
}
