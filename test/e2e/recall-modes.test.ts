import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, resultsOf, signUp } from "../support/caller.js";
import { DATABASES } from "../support/databases.js";
import { type Protocol, protocolsOf } from "../support/protocols.js";
import { newDataDir, sharedServer, startServer, type TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TEXTS = [
  "Ana is allergic to peanuts.",
  "The meeting was moved to Friday.",
  "Ana moved to Berlin in 2021.",
] as const;
const QUERY = "What is Ana allergic to?";
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);

let server: TestServer;
let caller: Caller;

beforeAll(async () => {
  server = await sharedServer();
  caller = await signUp(server.url);
  for (const text of TEXTS) await caller.store({ text, namespace: "ana" });
});

/** Sends a recall as it is, and returns the bytes of the answer. */
async function raw(request: JsonObject): Promise<string> {
  const response = await fetch(`${server.url}/recall`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${caller.key}` },
    body: JSON.stringify(request),
  });
  return response.text();
}

async function recall(protocol: Protocol, request: JsonObject): Promise<JsonObject[]> {
  const { code, message, body } = await protocol.call("Recall", request, { key: caller.key });
  expect({ code, message }).toMatchObject({ code: "ok" });
  return body.results as JsonObject[];
}

describe.each(PROTOCOLS)("a recall through %s", (name) => {
  const protocol = () => protocolsOf(server.url).find((each) => each.name === name) as Protocol;

  it("is ordered by meaning alone unless it asks for words, and says nothing of them", async () => {
    const asked = { query: QUERY, namespace: "ana" };
    const plain = await recall(protocol(), asked);
    expect(await recall(protocol(), { ...asked, mode: "COSINE" })).toEqual(plain);
    for (const result of plain) {
      expect(Object.keys(result)).toEqual(["id", "text", "score", "metadata", "created_at", "match"]);
    }
  });

  it("leaves out results below min_score, in either order, and says how many there were", async () => {
    for (const mode of ["COSINE", "HYBRID"]) {
      const asked = { query: QUERY, namespace: "ana", mode };
      const all = await recall(protocol(), asked);
      const scores = all.map(({ score }) => score as number).sort();
      for (const min_score of [scores[1] as number, (scores[2] as number) + 1e-9, 0]) {
        const { body } = await protocol().call("Recall", { ...asked, min_score }, { key: caller.key });
        const high = all.filter(({ score }) => (score as number) >= min_score);
        expect(body.results).toMatchObject(high.map((each) => ({ ...each, etag: expect.any(String) })));
        expect(body.considered).toBe((body.results as unknown[]).length === 0 ? 3 : undefined);
      }
    }
  });

  it("says that nothing was considered where the namespace does not exist, however it is asked", async () => {
    for (const more of [{}, { min_score: 0.5 }, { filter: { kind: "note" } }, { mode: "HYBRID" }]) {
      const nowhere = { query: QUERY, namespace: "never", ...more };
      const { body } = await protocol().call("Recall", nowhere, { key: caller.key });
      expect(body).toMatchObject({ results: [], considered: 0 });
    }
  });

  it("finds as many as are asked for above min_score, though others stand before them", async () => {
    const asked = { query: QUERY, namespace: "ana", mode: "HYBRID" };
    const all = await recall(protocol(), asked);
    for (const top_k of [1, 2]) {
      for (const { score: min_score = 0 } of all) {
        const high = all.filter(({ score }) => (score as number) >= Number(min_score));
        const found = await recall(protocol(), { ...asked, top_k, min_score });
        expect(found.map(({ id }) => id)).toEqual(high.slice(0, top_k).map(({ id }) => id));
      }
    }
  });

  it("leaves out what fits less than min_fit, says what and why on request, and how many there were", async () => {
    const asked = { query: QUERY, namespace: "ana", mode: "HYBRID" };
    const all = await recall(protocol(), { ...asked, explain: true });
    const fits = all.map(({ score, words, explanation }) => {
      const fit = Number(score) + Number(words) / 2;
      expect((explanation as JsonObject).fit).toBeCloseTo(fit, 9);
      return fit;
    });
    for (const min_fit of [0, ...fits, 1.5]) {
      const { body } = await protocol().call(
        "Recall",
        { ...asked, min_fit, explain: true },
        { key: caller.key },
      );
      const [high, low] = [
        all.filter((_, i) => Number(fits[i]) >= min_fit),
        all.filter((_, i) => Number(fits[i]) < min_fit),
      ];
      expect((body.results as JsonObject[]).map(({ id }) => id)).toEqual(high.map(({ id }) => id));
      const { memories } = body.omitted as { memories: JsonObject[] };
      expect(memories.map(({ id }) => id)).toEqual(low.map(({ id }) => id));
      for (const each of memories) expect(Number(each.fit)).toBeLessThan(min_fit);
      expect(body.considered).toBe(high.length === 0 ? 3 : undefined);
    }
    const plain = await protocol().call("Recall", { ...asked, min_fit: 1.5 }, { key: caller.key });
    expect(plain.body).toMatchObject({ results: [], considered: 3 });
    expect(plain.body).not.toHaveProperty("omitted");
  });

  it("sends only the fields that it is asked for, and the id", async () => {
    const asked = { query: QUERY, namespace: "ana", mode: "HYBRID", explain: true };
    const all = await recall(protocol(), asked);
    // JSON writes what is left out as these.
    const empty = { text: "", score: 0 };
    for (const fields of ["id", "score", "text", "metadata,match", "created_at,words", "explanation,id"]) {
      const expected = all.map((result) => {
        const named = Object.entries(result).filter(([name]) => ["id", ...fields.split(",")].includes(name));
        return { ...empty, ...Object.fromEntries(named) };
      });
      expect(await recall(protocol(), { ...asked, fields })).toEqual(expected);
    }
  });

  it("says with HYBRID how many of the query's words each memory has", async () => {
    const asked = { query: QUERY, namespace: "ana", mode: "HYBRID" };
    const results = await recall(protocol(), asked);
    const words = new Map(results.map(({ text, words }) => [text, words as number]));
    expect(words.get(TEXTS[0])).toBeCloseTo(0.23319, 5);
    expect(words.get(TEXTS[1])).toBe(0);
    expect(words.get(TEXTS[2])).toBeCloseTo(0.06803, 5);
    expect(results[0]).toMatchObject({ text: TEXTS[0] });
    expect(results.every((result) => result.explanation === undefined)).toBe(true);
    const cosines = await recall(protocol(), { ...asked, mode: "COSINE" });
    for (const { id, score } of cosines)
      expect(results).toContainEqual(expect.objectContaining({ id, score }));
  });

  it("explains each place", async () => {
    const asked = { query: QUERY, namespace: "ana", explain: true };
    const hybrid = await recall(protocol(), { ...asked, mode: "HYBRID" });
    const ranks = hybrid.map(({ score, words, explanation }) => {
      const { rank, weight } = explanation as { rank: number; weight: number };
      expect(rank).toBeCloseTo((score as number) + weight * (words as number), 9);
      return rank;
    });
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
    expect(hybrid[0]).toMatchObject({ explanation: { matched: ["ana", "allergic"] } });
    for (const { score, explanation } of await recall(protocol(), asked)) {
      expect(explanation).toEqual({ rank: score, weight: 0, matched: [] });
    }
  });
});

it.each([
  ["one word, again and again", "ana ".repeat(16_384)],
  ["10,000 different words", Array.from({ length: 10_000 }, (_, i) => i.toString(36)).join(" ")],
  ["one word without an end", "a".repeat(65_536)],
  ["no words", "?!… — …"],
  ["emoji only", "👩‍👩‍👧‍👦🏳️‍🌈"],
  ["words from right to left", "שלום עולם مرحبا بالعالم"],
  ["marks upon marks", `e${"\u0301".repeat(10_000)}`],
  ["stop words only", "what is it that the and to of"],
])("by words, a query of %s is answered", async (_, query) => {
  const answer = await raw({ query, namespace: "ana", mode: "HYBRID", explain: true });
  const { results } = JSON.parse(answer) as { results: { words: number; explanation: { rank: number } }[] };
  expect(results).toHaveLength(TEXTS.length);
  for (const { words, explanation } of results) {
    expect(words).toBeGreaterThanOrEqual(0);
    expect(words).toBeLessThanOrEqual(1);
    expect(Number.isFinite(explanation.rank)).toBe(true);
  }
});

it("a default answer has the bytes that it had before there were modes", async () => {
  const answer = await raw({ query: QUERY, namespace: "ana" });
  expect(answer).toBe(await raw({ query: QUERY, namespace: "ana", explain: false }));
  const parsed = JSON.parse(answer) as { results: JsonObject[] };
  expect(answer).not.toMatch(/"(words|explanation)"/);
  expect(parsed.results).toHaveLength(TEXTS.length);
});

it("RECALL_MODE says what a recall without a mode is ordered by", async () => {
  const hybrid = await startServer({ env: { RECALL_MODE: "hybrid" } });
  const ana = await signUp(hybrid.url);
  for (const text of TEXTS) await ana.store({ text, namespace: "ana" });
  for (const result of resultsOf(await ana.recall(QUERY, "ana"))) expect(result).toHaveProperty("words");
  await hybrid.stop();
});

it("words are found after a restart, and deleted ones are not", async () => {
  const dataDir = newDataDir();
  const first = await startServer({ dataDir, env: { RECALL_MODE: "hybrid" } });
  const ana = await signUp(first.url);
  for (const text of TEXTS) await ana.store({ text, namespace: "ana" });
  const before = resultsOf(await ana.recall(QUERY, "ana"));
  await first.stop();
  const second = await startServer({ dataDir, env: { RECALL_MODE: "hybrid" } });
  const again = ana.at(second.url);
  expect(resultsOf(await again.recall(QUERY, "ana"))).toEqual(before);
  await again.forget("ana", String(before[0]?.id));
  const after = resultsOf(await again.recall(QUERY, "ana"));
  expect(after).toHaveLength(TEXTS.length - 1);
  // As if it had never been stored: one of two memories has "ana".
  for (const text of TEXTS.slice(1)) await again.store({ text, namespace: "other" });
  const never = resultsOf(await again.recall(QUERY, "other"));
  const shown = ({ text, score, ...rest }: (typeof after)[0]) => ({
    text,
    score,
    words: "words" in rest && rest.words,
  });
  expect(after.map(shown)).toEqual(never.map(shown));
  await second.stop();
});

it("either database gives the same answers", async () => {
  const answers = [];
  for (const { missing, make } of DATABASES) {
    if (missing !== undefined) continue;
    const other = await (await make()).start({ RECALL_MODE: "hybrid" });
    const ana = await signUp(other.url);
    for (const text of TEXTS) await ana.store({ text, namespace: "ana" });
    const results = resultsOf(await ana.recall(QUERY, "ana"));
    answers.push(results.map(({ id: _, created_at: __, ...result }) => result));
    await other.stop();
  }
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});
