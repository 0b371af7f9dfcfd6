import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, resultsOf, signUp } from "../support/caller.js";
import { type Protocol, protocolsOf } from "../support/protocols.js";
import { sharedServer, startServer, type TestServer } from "../support/server.js";

// Machines that run many tests at once are slow.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TEXTS = [
  "Ana is allergic to peanuts.",
  "The meeting was moved to Friday.",
  "Ana moved to Berlin in 2021.",
] as const;
const QUERY = "What is Ana allergic to?";
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);

let server: TestServer;
let ana: Caller;

beforeAll(async () => {
  server = await sharedServer();
  ana = await signUp(server.url);
  for (const text of TEXTS) await ana.store({ text, namespace: "ana" });
});

const protocolNamed = (name: string) =>
  protocolsOf(server.url).find((each) => each.name === name) as Protocol;
const idsOf = (results: unknown) => (results as JsonObject[]).map(({ id }) => id);

describe.each(PROTOCOLS)("through %s", (name) => {
  const asks = async (request: JsonObject, caller = ana) => {
    const { code, message, body } = await protocolNamed(name).call("Recall", request, { key: caller.key });
    expect({ code, message }).toMatchObject({ code: "ok" });
    return body as JsonObject & { readonly results: JsonObject[] };
  };

  it("results end before the one that would pass max_tokens, and the answer says so", async () => {
    const asked = { query: QUERY, namespace: "ana" };
    const { results: all, shortened } = await asks(asked);
    expect([all.length, shortened]).toEqual([3, undefined]);
    const tokens: number[] = [];
    for (const { id } of all) {
      const { body } = await ana.get("ana", String(id));
      tokens.push((body.memory as { tokens: number }).tokens);
    }
    const [first = 0, second = 0, third = 0] = tokens;
    for (const [max_tokens, count] of [
      [1, 1],
      [first, 1],
      [first + second - 1, 1],
      [first + second, 2],
      [first + second + third - 1, 2],
      [first + second + third, 3],
      [100_000, 3],
    ] as const) {
      const { results, shortened } = await asks({ ...asked, max_tokens });
      expect(results).toEqual(all.slice(0, count));
      expect(shortened).toBe(count < 3 ? true : undefined);
    }
  });
});

describe.each(PROTOCOLS)("through %s, in place of a query", (name) => {
  const outcome = (request: JsonObject, caller = ana) =>
    protocolNamed(name).call("Recall", request, { key: caller.key });
  const asks = async (request: JsonObject, caller = ana) => {
    const { code, message, body } = await outcome(request, caller);
    expect({ code, message }).toMatchObject({ code: "ok" });
    return body as JsonObject & { readonly results: JsonObject[] };
  };

  it.each(["COSINE", "HYBRID"])("queries give the best of all, each memory once, with %s", async (mode) => {
    const queries = ["What is Ana allergic to?", "Where does Ana live?", "When is the meeting?"];
    const each = await Promise.all(
      queries.map(async (query) => asks({ namespace: "ana", query, mode, explain: true })),
    );
    const rankOf = ({ explanation }: JsonObject) => (explanation as { rank: number }).rank;
    const expected = each
      .flatMap(({ results }, query_index) =>
        results.map((result): JsonObject => ({ ...result, query_index })),
      )
      .sort((a, b) => rankOf(b) - rankOf(a))
      .filter((result, i, all) => all.findIndex(({ id }) => id === result.id) === i);
    const all = await asks({ namespace: "ana", queries, mode, explain: true });
    expect(all.results).toEqual(expected);
    expect(new Set(all.results.map(({ query_index }) => query_index)).size).toBeGreaterThan(1);
    expect(all.query_tokens).toBe(each.reduce((sum, { query_tokens }) => sum + Number(query_tokens), 0));
    const two = await asks({ namespace: "ana", queries, mode, explain: true, top_k: 2 });
    expect(two.results).toEqual(expected.slice(0, 2));
  });

  it("each query costs a call, and a recall that fails none", async () => {
    const bo = await signUp(server.url);
    await bo.store({ text: TEXTS[0], namespace: "n" });
    const before = await bo.used();
    await asks({ namespace: "n", queries: ["peanuts", "allergy", "Ana"] }, bo);
    expect(await bo.used()).toBe(before + 3);
    expect((await outcome({ namespace: "n", queries: ["peanuts", ""] }, bo)).code).toBe("invalid_argument");
    const none = { namespace: "n", like_id: "mem_01jdh2zz00e00r000000000000" };
    expect((await outcome(none, bo)).code).toBe("not_found");
    expect(await bo.used()).toBe(before + 3);
  });

  it.each(["COSINE", "HYBRID"])(
    "like_id gives what is most like a memory, without itself, with %s",
    async (mode) => {
      const text = TEXTS[0];
      const { results } = await asks({ namespace: "ana", query: text, mode: "COSINE" });
      const [self, ...others] = results;
      expect(self).toMatchObject({ text });
      const like = await asks({ namespace: "ana", like_id: self?.id as string, mode });
      expect(like.query_tokens).toBe(0);
      expect(like).not.toHaveProperty("considered");
      const scores = new Map(others.map(({ id, score }) => [id, score]));
      expect(new Set(idsOf(like.results))).toEqual(new Set(scores.keys()));
      for (const { id, score } of like.results) expect(score).toBeCloseTo(scores.get(id) as number, 5);
      if (mode === "COSINE") expect(idsOf(like.results)).toEqual(idsOf(others));
      const filtered = await asks({
        namespace: "ana",
        like_id: self?.id as string,
        mode,
        filter: { $id: others[1]?.id as string },
      });
      expect(idsOf(filtered.results)).toEqual([others[1]?.id]);
      // There is nothing else: that is no empty namespace, and nothing was left out.
      const bo = await signUp(server.url);
      const { body } = await bo.store({ text, namespace: "n" });
      const alone = await asks({ namespace: "n", like_id: body.id as string, mode }, bo);
      expect(alone.results).toEqual([]);
      expect(alone).not.toHaveProperty("considered");
      expect((await outcome({ namespace: "other", like_id: body.id as string, mode }, bo)).code).toBe(
        "not_found",
      );
    },
  );

  it("like_id finds what is like a part of a long text, and what is like its newest version", async () => {
    const bo = await signUp(server.url);
    const filler = Array.from({ length: 120 }, (_, i) => `Row ${i} of the ledger was checked by the clerk.`);
    const long = `${filler.join(" ")} Ana is allergic to peanuts and must avoid them. ${filler.join(" ")}`;
    const { body } = await bo.store({ text: long, namespace: "n" });
    for (const text of TEXTS) await bo.store({ text, namespace: "n" });
    const like_id = body.id as string;
    expect((await asks({ namespace: "n", like_id, top_k: 1 }, bo)).results).toMatchObject([
      { text: TEXTS[0] },
    ]);
    const patch = { body: { text: "The appointment takes place on Friday." } };
    expect((await bo.call(`PATCH ${bo.pathOf("n", like_id)}`, patch)).code).toBe("ok");
    const { results } = await asks({ namespace: "n", like_id }, bo);
    expect(results).toHaveLength(3);
    expect(results[0]).toMatchObject({ text: TEXTS[1] });
  });
});

describe.each(PROTOCOLS)("through %s, in several namespaces", (name) => {
  const outcome = (request: JsonObject, key: string) => protocolNamed(name).call("Recall", request, { key });

  it.each(["COSINE", "HYBRID"])(
    "the best of all stand in one order, and name theirs, with %s",
    async (mode) => {
      const bo = await signUp(server.url);
      for (const [i, text] of TEXTS.entries()) await bo.store({ text, namespace: `n${i % 2}` });
      await bo.store({ text: "Nobody asked for this one: Ana is allergic to cats.", namespace: "n2" });
      const asked = { query: QUERY, mode, explain: true };
      const [n0, n1] = await Promise.all(
        ["n0", "n1"].map(async (namespace) => {
          const { body } = await outcome({ ...asked, namespace }, bo.key);
          return (body.results as JsonObject[]).map((each) => ({ ...each, namespace }) as JsonObject);
        }),
      );
      const rankOf = ({ explanation }: JsonObject) => (explanation as { rank: number }).rank;
      const expected = [...(n0 ?? []), ...(n1 ?? [])].sort((a, b) => rankOf(b) - rankOf(a));
      expect(expected).toHaveLength(3);
      const before = await bo.used();
      const all = await outcome({ ...asked, namespace: "n0", also_in: ["never", "n1"] }, bo.key);
      expect(all.body.results).toEqual(expected);
      expect(await bo.used()).toBe(before + 1);
      const one = await outcome({ ...asked, namespace: "n0", also_in: ["n1"], top_k: 1 }, bo.key);
      expect(one.body.results).toEqual(expected.slice(0, 1));
      const first = expected[0] as JsonObject;
      const like = await outcome(
        { like_id: first.id as string, namespace: first.namespace as string, also_in: ["n2"], top_k: 1 },
        bo.key,
      );
      expect(like.body.results).toMatchObject([{ namespace: "n2" }]);
      const none = { ...asked, namespace: "n0", also_in: ["n1", "never"], min_score: 1 };
      expect((await outcome(none, bo.key)).body).toMatchObject({ results: [], considered: 3 });
      const nowhere = { ...asked, namespace: "never", also_in: ["nor this"] };
      expect((await outcome(nowhere, bo.key)).body).toMatchObject({ results: [], considered: 0 });
    },
  );

  it("neighbors are those of each result's own namespace and session, within the budget", async () => {
    const bo = await signUp(server.url);
    const said = (session: string, ...texts: string[]) => ({
      body: { namespace: session, memories: texts.map((text) => ({ text, metadata: { session } })) },
    });
    await bo.call(
      "POST /store/batch",
      said("mon", "Hello there.", "How is it?", "Peanuts make Ana ill.", "Oh no!"),
    );
    await bo.call(
      "POST /store/batch",
      said("tue", "Good morning.", "Ana cannot eat peanuts.", "Never?", "Never."),
    );
    await bo.store({ text: "Aside.", namespace: "mon", metadata: { session: "wed" } });
    const asked = { query: "Can Ana eat peanuts?", namespace: "mon", also_in: ["tue"], top_k: 2 };
    const textsOf = (value: unknown) =>
      ((value as JsonObject).memories as JsonObject[]).map(({ text }) => text);
    const aroundOf = ({ text, before, after }: JsonObject) => [textsOf(before), text, textsOf(after)];
    const neighbors = { before: 2, after: 5, same: "session" };
    const { body } = await outcome({ ...asked, neighbors }, bo.key);
    const results = body.results as JsonObject[];
    const [tue, mon] = [
      [["Good morning."], "Ana cannot eat peanuts.", ["Never?", "Never."]],
      [["Hello there.", "How is it?"], "Peanuts make Ana ill.", ["Oh no!"]],
    ];
    expect(results.map(aroundOf).sort()).toEqual([tue, mon].sort());
    const [best = {}] = results;
    const [memory] = (best.before as { memories: JsonObject[] }).memories;
    const kept = await bo.get(best.namespace as string, memory?.id as string);
    expect(memory).toEqual(kept.body.memory);
    const any = await outcome({ ...asked, also_in: [], top_k: 1, neighbors: { after: 2 } }, bo.key);
    const [alone] = any.body.results as JsonObject[];
    expect(textsOf(alone?.after)).toEqual(["Oh no!", "Aside."]);
    expect(alone).not.toHaveProperty("before");
    // The first and its nearest neighbor before it have room, and nothing after that.
    const tokensOf = async (namespace: unknown, id: unknown) =>
      ((await bo.get(namespace as string, id as string)).body.memory as { tokens: number }).tokens;
    const { id, namespace, before } = best;
    const nearest = ((before as JsonObject).memories as JsonObject[]).at(-1);
    const max_tokens = (await tokensOf(namespace, id)) + (await tokensOf(namespace, nearest?.id));
    const tight = await outcome({ ...asked, neighbors, max_tokens }, bo.key);
    expect(tight.body).toMatchObject({
      results: [{ id, before: { memories: [{ id: nearest?.id }] }, after: { memories: [] } }],
      shortened: true,
    });
  });
});

describe("a namespace that a key may not read", () => {
  const SECRET = "projekt-zitrone";

  it("is refused beside one that it may, and leaves no trace in answers, log, metrics or records", async () => {
    const own = await startServer({
      env: { METRICS_PORT: "0", LOG_LEVEL: "trace" },
    });
    const bo = await signUp(own.url);
    for (const namespace of ["mine", SECRET]) await bo.store({ text: TEXTS[0], namespace });
    const made = await bo.call("POST /keys", { body: { name: "narrow", namespace: "mine" } });
    const key = String(made.body.api_key);
    const output = own.output().length;
    const before = await bo.used();
    const traces: string[] = [];
    for (const protocol of protocolsOf(own.url)) {
      for (const asked of [
        { query: QUERY },
        { queries: [QUERY] },
        { like_id: "mem_01jdh2zz00e00r000000000000" },
      ]) {
        const request = { ...asked, namespace: "mine", also_in: ["third", SECRET], neighbors: { before: 1 } };
        const { code, message, reason, body } = await protocol.call("Recall", request, { key });
        expect({ code, reason, body }).toEqual({
          code: "permission_denied",
          reason: "KEY_OTHER_NAMESPACE",
          body: {},
        });
        traces.push(message);
      }
    }
    expect(await bo.used()).toBe(before);
    const calls = await bo.call("GET /calls");
    const usage = await bo.call("GET /usage");
    const metrics = await (await fetch(own.metricsUrl)).text();
    const recalls = (calls.body.calls as JsonObject[]).filter(({ method }) =>
      String(method).endsWith("/Recall"),
    );
    expect(recalls).toHaveLength(3 * PROTOCOLS.length);
    traces.push(own.output().slice(output), JSON.stringify(recalls), metrics);
    // Its owner's own store is there, and nothing since.
    expect(JSON.stringify(usage.body).split(SECRET)).toHaveLength(2);
    for (const trace of traces) expect(trace).not.toContain(SECRET);
    expect(own.output().slice(output)).toContain("permission_denied");
    await own.stop();
  });
});

describe("TOP_K_MAX", () => {
  it("raises top_k on an operator's own server, to 200, by meaning and by words", async () => {
    const own = await startServer({ env: { TOP_K_MAX: "200" } });
    const bo = await signUp(own.url);
    const memories = Array.from({ length: 230 }, (_, i) => ({ text: `Note ${i} is about gardens.` }));
    const { code } = await bo.call("POST /store/batch", {
      body: { namespace: "n", memories: memories.slice(0, 120) },
    });
    const more = await bo.call("POST /store/batch", {
      body: { namespace: "n", memories: memories.slice(120) },
    });
    expect([code, more.code]).toEqual(["ok", "ok"]);
    for (const mode of ["COSINE", "HYBRID"]) {
      const body = { query: "Which note is about gardens?", namespace: "n", mode };
      const answer = await bo.call("POST /recall", { body: { ...body, top_k: 200 } });
      expect(answer.code).toBe("ok");
      expect(new Set(idsOf(answer.body.results)).size).toBe(200);
      expect(answer.body).not.toHaveProperty("shortened");
      const ranks = resultsOf(answer).map(({ score }) => score);
      if (mode === "COSINE") expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
      const beyond = await bo.call("POST /recall", { body: { ...body, top_k: 201 } });
      expect(beyond).toMatchObject({ code: "invalid_argument", fields: ["top_k"] });
      expect(beyond.message).toMatch(/1 to 200/);
    }
    await own.stop();
  });

  it("keeps the answer to what 20 of the longest memories have", async () => {
    const own = await startServer({ env: { TOP_K_MAX: "200" } });
    const bo = await signUp(own.url);
    // One word, so that the model reads it quickly enough.
    const metadata = { filling: "m".repeat(16_000) };
    for (let i = 0; i < 120; i += 40) {
      const memories = Array.from({ length: 40 }, (_, n) => ({ text: `Garden ${i + n}`, metadata }));
      const { code } = await bo.call("POST /store/batch", { body: { namespace: "n", memories } });
      expect(code).toBe("ok");
    }
    const answer = await bo.call("POST /recall", { body: { query: "garden", namespace: "n", top_k: 200 } });
    const bytes = resultsOf(answer).map(
      ({ text, metadata }) => Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(metadata)),
    );
    expect(answer.body.shortened).toBe(true);
    const all = bytes.reduce((sum, each) => sum + each, 0);
    expect(all).toBeLessThanOrEqual(1_638_400);
    expect(all).toBeGreaterThan(1_638_400 - 17_000);
    await own.stop();
  });
});

it.each(["COSINE", "HYBRID"])(
  "of equal results the older comes first, however it is asked, with %s",
  async (mode) => {
    const bo = await signUp(server.url);
    const ids: string[] = [];
    for (let i = 0; i < 4; i++)
      ids.push(String((await bo.store({ text: TEXTS[0], namespace: "n" })).body.id));
    // A change of a memory makes it no younger.
    for (const id of [ids[2], ids[0]]) {
      const body = { metadata: { seen: true } };
      expect((await bo.call(`PATCH ${bo.pathOf("n", id)}`, { body })).code).toBe("ok");
    }
    for (const asked of [{ query: QUERY }, { queries: [QUERY, "Ana"] }, { query: QUERY, also_in: ["m"] }]) {
      const { body } = await bo.call("POST /recall", { body: { ...asked, namespace: "n", mode } });
      expect(idsOf(body.results)).toEqual(ids);
    }
  },
);
