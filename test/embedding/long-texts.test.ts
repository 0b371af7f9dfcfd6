import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { OpenEmbedder } from "../../src/embedding/embedder.js";
import { QUERY_WINDOWS_MAX, TEXT_WINDOWS_MAX } from "../../src/memory/ports/embedder.js";
import { vectorsOf } from "../../src/memory/ports/windows.js";
import { FACT, inProse, needles, partOf, QUESTION } from "../support/needles.js";
import { quickly } from "../support/quick.js";
import { openEmbedder } from "./built.js";

vi.setConfig({ testTimeout: 60_000 });

let embedder: OpenEmbedder;
beforeAll(async () => {
  embedder = await openEmbedder({ model: "bundled", modelsDir: "/nowhere", workers: 1 });
});
afterAll(() => embedder.close());

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

describe("a long text", () => {
  it.each(needles())("of $name: its nearest window holds the fact", async ({ text }) => {
    const { vectors: query } = await embedder.embed({ text: QUESTION, field: "query", owner: "acc" });
    const embedding = await embedder.embed({ text, field: "text", owner: "acc" });
    const { windows = [] } = embedding;
    expect(windows.length).toBeGreaterThan(1);
    const scores = vectorsOf(embedding).map((vector) => dot(vector, query));
    const best = windows[scores.indexOf(Math.max(...scores))] as { start: number; end: number };
    expect(partOf(text, best)).toContain(FACT);
  });

  quickly("has windows in order, over all of it, of one vector each", async () => {
    const { text } = inProse();
    const { windows = [], vectors } = await embedder.embed({ text, field: "text", owner: "acc" });
    expect(vectors.length).toBe(windows.length * embedder.model.dimensions);
    expect(windows[0]?.start).toBe(0);
    expect(windows.at(-1)?.end).toBe([...text].length);
    for (const [i, { start }] of windows.entries()) {
      if (i > 0) expect(start).toBeLessThanOrEqual(windows[i - 1]?.end as number);
    }
  });

  quickly("of the most tokens has a bounded number of windows", async () => {
    const text = Array.from({ length: 32_768 }, (_, i) => "!?.,;:-*+="[(i * i) % 10]).join(" ");
    expect(Buffer.byteLength(text)).toBeGreaterThan(65_000);
    const { windows = [], tokens } = await embedder.embed({ text, field: "text", owner: "acc" });
    expect(tokens).toBe(32_768);
    expect(windows.length).toBeLessThanOrEqual(TEXT_WINDOWS_MAX);
  });

  quickly("asked as a query has few windows, which cover all of it", async () => {
    let state = 1;
    const next = () => {
      state = (state * 16_807) % 2_147_483_647;
      return state % 10;
    };
    // Half of the longest text has already more windows than a query may have.
    const text = Array.from({ length: 32_768 }, () => "!?.,;:-*+="[next()]).join("");
    const { windows = [], vectors } = await embedder.embed({ text, field: "query", owner: "acc" });
    expect(windows.length).toBe(QUERY_WINDOWS_MAX);
    expect(vectors.length).toBe(windows.length * embedder.model.dimensions);
    expect(windows[0]?.start).toBe(0);
    expect(windows.at(-1)?.end).toBe(text.length);
  });

  quickly.each(["!", "a ", "字", "x", "😀"])(
    "of %j again and again has few windows: alike ones are one",
    async (chunk) => {
      const text = chunk.repeat(65_536 / Buffer.byteLength(chunk));
      const { windows = [], tokens } = await embedder.embed({ text, field: "text", owner: "acc" });
      expect(windows.length).toBeGreaterThan(0);
      expect(windows.length).toBeLessThan(10);
      expect(tokens).toBeGreaterThan(0);
    },
  );

  quickly("counts the tokens of the whole text", async () => {
    const { tokens } = await embedder.embed({ text: "tea ".repeat(3000), field: "text", owner: "acc" });
    expect(tokens).toBe(3000);
  });

  quickly(
    "lets queries and other accounts' texts be read in between, and its own account's after it",
    async () => {
      const order: string[] = [];
      const read = (
        name: string,
        { field = "text", owner = "acc" }: { field?: "query" | "text"; owner?: string } = {},
      ) =>
        embedder
          .embed({ text: name === "long" ? inProse().text : name, field, owner })
          .then(() => order.push(name));
      await Promise.all([
        read("long"),
        read("next"),
        read("other's", { owner: "other" }),
        read("query", { field: "query" }),
      ]);
      expect(order).toEqual(["query", "other's", "long", "next"]);
    },
  );

  quickly("is given up with its caller", async () => {
    const stop = new AbortController();
    const reading = embedder.embed({
      text: inProse().text,
      field: "text",
      owner: "acc",
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(new Error("the caller went away")), 100);
    await expect(reading).rejects.toThrow("the caller went away");
    expect(embedder.waiting()).toEqual({ query: 0, text: 0 });
  });
});
