import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BareServer } from "../../bench/compare/bare/bare-server.js";
import { RecalldClient } from "../../bench/compare/recalld-client.js";
import { type Corpus, openCorpus } from "../../bench/compare/texts.js";
import { packageRoot } from "../../src/embedding/models/locate.js";

const MEMORIES = 40;

describe("the bare server", () => {
  const folder = mkdtempSync(join(tmpdir(), "recalld-bare-"));
  let corpus: Corpus;

  beforeAll(async () => {
    const model = { model: "bundled", modelsDir: folder };
    corpus = await openCorpus({ ...model, folder, workers: 1, embedded: MEMORIES, texts: MEMORIES });
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each([
    ["in a thread", "thread"],
    // It loads the graph that the other kind has made.
    ["on its main thread", "main"],
  ] as const)(
    "that embeds %s answers the five nearest of what it was filled with",
    async (_, kind) => {
      const modelFolder = join(packageRoot(), "models", "bundled");
      const server = new BareServer({ kind, modelFolder, workers: 1, corpus, folder });
      await server.start();
      try {
        await server.fill({ from: 0, to: 10 });
        await server.fill({ from: 10, to: MEMORIES });
        const client = new RecalldClient(server.port);
        const asked = [3, 25, 39].map((i) => corpus.texts[i] as string);
        const answers = await Promise.all(asked.map((query) => client.post("/recall", { query })));
        client.close();
        const found = answers.map(({ results }) => results as { text: string; score: number }[]);
        expect(found.map(([best]) => best?.text)).toEqual(asked);
        for (const results of found) {
          expect(results).toHaveLength(5);
          expect(results[0]?.score).toBeGreaterThan(0.99);
        }
        const load = await server.recall({ from: 0, count: 20, callers: 4, secondsMax: 10 });
        expect(load.latenciesMs).toHaveLength(20);
      } finally {
        await server.stop();
      }
      expect(readFileSync(join(folder, `bare-${kind}.log`), "utf8")).toBe("");
    },
    60_000,
  );
});
