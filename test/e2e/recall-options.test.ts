import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, resultsOf, signUp } from "../support/caller.js";
import { type Door, doorsOf } from "../support/doors.js";
import { sharedServer, startServer, type TestServer } from "../support/server.js";

// Machines that run many tests at once are slow.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TEXTS = [
  "Ana is allergic to peanuts.",
  "The meeting was moved to Friday.",
  "Ana moved to Berlin in 2021.",
] as const;
const QUERY = "What is Ana allergic to?";
const DOORS = doorsOf("http://127.0.0.1:1").map(({ name }) => name);

let server: TestServer;
let ana: Caller;

beforeAll(async () => {
  server = await sharedServer();
  ana = await signUp(server.url);
  for (const text of TEXTS) await ana.store({ text, namespace: "ana" });
});

const doorNamed = (name: string) => doorsOf(server.url).find((each) => each.name === name) as Door;
const idsOf = (results: unknown) => (results as JsonObject[]).map(({ id }) => id);

describe.each(DOORS)("through %s", (name) => {
  const asks = async (request: JsonObject, caller = ana) => {
    const { code, message, body } = await doorNamed(name).call("Recall", request, { key: caller.key });
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
