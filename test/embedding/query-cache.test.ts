import { expect, it, vi } from "vitest";
import type { OpenEmbedder } from "../../src/embedding/embedder.js";
import { withQueryCache } from "../../src/embedding/embedder.js";
import type { EmbedInput } from "../../src/memory/ports/embedder.js";

function setUp(bytesMax: number) {
  const embed = vi.fn(async ({ text }: EmbedInput) => ({ vectors: Float32Array.of(text.length), tokens: 1 }));
  const cached = withQueryCache(
    { embed, waiting: () => 3, close: async () => {} } as unknown as OpenEmbedder,
    {
      bytesMax,
    },
  );
  const ask = (text: string, field: "query" | "text" = "query", owner = "acc") =>
    cached.embed({ text, field, owner });
  return { embed, cached, ask };
}

it("the same query is read once, and gets the same vector", async () => {
  const { embed, ask } = setUp(10_000);
  expect(await ask("tea?")).toEqual(await ask("tea?"));
  expect(embed).toHaveBeenCalledOnce();
});

it("another text, in whatever little it differs, and a text to store are read", async () => {
  const { embed, ask } = setUp(10_000);
  for (const text of ["tea?", "Tea?", "tea? ", "te\u0301a?", "t\u00e9a?"]) await ask(text);
  await ask("tea?", "text");
  await ask("tea?", "text");
  expect(embed).toHaveBeenCalledTimes(7);
});

it("what one account asked is read again for another: the time of an answer tells it nothing", async () => {
  const { embed, ask } = setUp(10_000);
  await ask("tea?", "query", "one");
  await ask("tea?", "query", "other");
  await ask("tea?", "query", "other");
  expect(embed).toHaveBeenCalledTimes(2);
});

it("what was asked longest ago is forgotten when the bytes are full", async () => {
  const { embed, ask } = setUp(1_000);
  for (let i = 0; i < 10; i++) await ask(`query ${i}`);
  await ask("query 9");
  expect(embed).toHaveBeenCalledTimes(10);
  await ask("query 0");
  expect(embed).toHaveBeenCalledTimes(11);
});

it("a query that failed, or is longer than the cache, is read again", async () => {
  const { embed, ask } = setUp(1_000);
  embed.mockRejectedValueOnce(new Error("away"));
  await expect(ask("tea?")).rejects.toThrow("away");
  await ask("tea?");
  for (let i = 0; i < 2; i++) await ask("long ".repeat(1000));
  expect(embed).toHaveBeenCalledTimes(4);
});

it("0 bytes are no cache, and the queue is still seen through one", async () => {
  const { embed, ask } = setUp(0);
  for (let i = 0; i < 2; i++) await ask("tea?");
  expect(embed).toHaveBeenCalledTimes(2);
  expect(setUp(1_000).cached.waiting()).toBe(3);
});
