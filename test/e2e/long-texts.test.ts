import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, resultsOf, signUp } from "../support/caller.js";
import { FACT, inProse, needles, partOf, QUESTION } from "../support/needles.js";
import { prose } from "../support/prose.js";
import { quickly } from "../support/quick.js";
import { startServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let server: TestServer;
let caller: Caller;
beforeAll(async () => {
  server = await startServer();
  caller = await signUp(server.url);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

describe("a text of 60,000 bytes with one fact", () => {
  it.each(needles())("of $name, is found by it, with the right part", async ({ name, text }) => {
    expect(Buffer.byteLength(text)).toBeGreaterThan(59_000);
    for (const other of prose(10)) await caller.store({ text: other, namespace: name });
    expect((await caller.store({ text, namespace: name })).code).toBe("ok");
    const [best] = resultsOf(await caller.recall(QUESTION, name));
    expect(best?.text).toBe(text);
    const { match } = best as unknown as { match: { start: number; end: number } };
    expect(partOf(text, match)).toContain(FACT);
    expect(match.end - match.start).toBeLessThanOrEqual(512);
  });

  quickly("is a question too: its own text finds it", async () => {
    const { text, name } = inProse();
    const results = resultsOf(await caller.recall(text, name, 20));
    // The results also have the short memories, each of which is a sentence of the text.
    expect(results.find((result) => result.text === text)?.score).toBeGreaterThan(0.9);
    expect(new Set(results.map(({ id }) => id)).size).toBe(results.length);
  });
});
